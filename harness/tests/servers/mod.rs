//! Registries on the loopback interface: Debian's `docker-registry`, and servers that answer what a test says.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The user that the registry with credentials knows.
pub(crate) const USER: &str = "user";
/// That user's password.
const PASSWORD: &str = "password";
/// The user and the bcrypt hash of the password.
const HTPASSWD: &str = "user:$2y$05$quhCsfCOx0CQI76ZpwpENuvtS6nxT6WTFHolPt2.W9u68ZThF4Xky";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_CONFIG: &str = "application/vnd.docker.container.image.v1+json";

/// A host and port where nothing listens.
pub(crate) fn free_host() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// An authority, and a certificate for the loopback address that it signed.
pub(crate) struct Authority {
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority_key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = parameters.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::new(parameters, authority_key);
        let key = rcgen::KeyPair::generate().unwrap();
        let parameters = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &issuer).unwrap();
        fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        fs::write(folder.path().join("certificate.pem"), certificate.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
        Self { folder }
    }

    /// The file with the authority.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

/// How a registry is reached.
pub(crate) enum Transport<'a> {
    /// Plain HTTP.
    Plain,
    /// Plain HTTP, with the user above.
    Credentials,
    /// HTTPS with a certificate of this authority.
    Tls(&'a Authority),
}

/// A running `docker-registry`; stopped when it is dropped.
pub(crate) struct DockerRegistry {
    /// Its host and port.
    pub(crate) host: String,
    process: Child,
    _folder: Arc<TempDir>,
}

impl DockerRegistry {
    pub(crate) fn is_installed() -> bool {
        let version = Command::new("docker-registry")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        version.is_ok_and(|status| status.success())
    }

    /// Starts a registry that stores its images in `folder`.
    pub(crate) fn start(folder: &Arc<TempDir>, transport: &Transport<'_>) -> Self {
        let host = free_host();
        let mut config = json!({
            "version": "0.1",
            "log": {"level": "error", "accesslog": {"disabled": true}},
            "storage": {"filesystem": {"rootdirectory": folder.path().join("images")}},
            "http": {"addr": host}
        });
        let name = match transport {
            Transport::Plain => "plain",
            Transport::Credentials => {
                let path = folder.path().join("htpasswd");
                fs::write(&path, HTPASSWD).unwrap();
                config["auth"] = json!({"htpasswd": {"realm": "test", "path": path}});
                "credentials"
            }
            Transport::Tls(authority) => {
                let file = |name: &str| authority.folder.path().join(name);
                config["http"]["tls"] =
                    json!({"certificate": file("certificate.pem"), "key": file("key.pem")});
                "tls"
            }
        };
        let path = folder.path().join(format!("{name}.yml"));
        fs::write(&path, config.to_string()).unwrap(); // JSON is YAML.
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..500 {
            if TcpStream::connect(&host).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        Self {
            host,
            process,
            _folder: Arc::clone(folder),
        }
    }
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A folder with a Docker `config.json` that has the password above for `user`.
pub(crate) fn docker_config(host: &str, user: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let auth = STANDARD.encode(format!("{user}:{PASSWORD}"));
    let config = json!({"auths": {host: {"auth": auth}}});
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    folder
}

fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn platform(text: &str) -> Value {
    let (os, architecture) = text.split_once('/').unwrap();
    json!({"os": os, "architecture": architecture})
}

/// Puts images into a registry, through its API.
struct Filler<'h> {
    host: &'h str,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

impl Filler<'_> {
    fn send(&self, request: reqwest::RequestBuilder) -> reqwest::Response {
        let response = self.runtime.block_on(request.send()).unwrap();
        let status = response.status();
        if !status.is_success() {
            panic!("{status}: {:?}", self.runtime.block_on(response.text()));
        }
        response
    }

    fn blob(&self, repository: &str, bytes: &[u8]) -> String {
        let uploads = format!("http://{}/v2/{repository}/blobs/uploads/", self.host);
        let started = self.send(self.client.post(uploads));
        let location = started.headers()["location"].to_str().unwrap().to_owned();
        let digest = digest(bytes);
        let separator = if location.contains('?') { '&' } else { '?' };
        let upload = format!("{location}{separator}digest={digest}");
        self.send(self.client.put(upload).body(bytes.to_vec()));
        digest
    }

    /// Puts a manifest and returns its descriptor.
    fn manifest(
        &self,
        repository: &str,
        tag: Option<&str>,
        media_type: &str,
        manifest: &Value,
    ) -> Value {
        let bytes = manifest.to_string().into_bytes();
        let digest = digest(&bytes);
        let reference = tag.unwrap_or(&digest);
        let url = format!("http://{}/v2/{repository}/manifests/{reference}", self.host);
        let size = bytes.len();
        let request = self.client.put(url).header("Content-Type", media_type);
        self.send(request.body(bytes));
        json!({"mediaType": media_type, "digest": digest, "size": size})
    }

    fn image_with(
        &self,
        repository: &str,
        tag: Option<&str>,
        (media_type, config_type): (&str, &str),
        config: &Value,
    ) -> Value {
        let config = config.to_string().into_bytes();
        let config_digest = self.blob(repository, &config);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": media_type,
            "config": {"mediaType": config_type, "digest": config_digest, "size": config.len()},
            "layers": []
        });
        self.manifest(repository, tag, media_type, &manifest)
    }

    /// Puts an OCI image for `os/architecture` without a tag.
    fn image(&self, repository: &str, for_platform: &str) -> Value {
        self.image_with(
            repository,
            None,
            (MANIFEST, CONFIG),
            &platform(for_platform),
        )
    }

    /// The entry of an index for an image of its own.
    fn entry(&self, repository: &str, for_platform: &str) -> Value {
        let mut entry = self.image(repository, for_platform);
        entry["platform"] = platform(for_platform);
        entry
    }

    fn index(&self, repository: &str, tag: Option<&str>, entries: &[Value]) -> Value {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries});
        self.manifest(repository, tag, INDEX, &index)
    }
}

/// The index `acme/multi:1`, whose bytes are the same in every registry.
fn multi(filler: &Filler<'_>, repository: &str) -> Value {
    let entries = [
        filler.entry(repository, "linux/amd64"),
        filler.entry(repository, "linux/arm64"),
    ];
    filler.index(repository, Some("1"), &entries)
}

static MULTI_DIGEST: Mutex<String> = Mutex::new(String::new());

/// The digest of the index `acme/multi:1`, once a registry was filled.
pub(crate) fn multi_digest() -> String {
    MULTI_DIGEST.lock().unwrap().clone()
}

/// Puts an image of every shape into the registry at `host`.
pub(crate) fn fill(host: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let filler = Filler {
        host,
        client: reqwest::Client::new(),
        runtime,
    };
    let descriptor = multi(&filler, "acme/multi");
    *MULTI_DIGEST.lock().unwrap() = descriptor["digest"].as_str().unwrap().to_owned();
    multi(&filler, "mirror/library/nginx");

    let docker = |for_platform: &str| {
        let types = (DOCKER_MANIFEST, DOCKER_CONFIG);
        let mut entry = filler.image_with("acme/list", None, types, &platform(for_platform));
        entry["platform"] = platform(for_platform);
        entry
    };
    let list = json!({"schemaVersion": 2, "mediaType": DOCKER_LIST, "manifests": [docker("linux/amd64"), docker("linux/arm")]});
    filler.manifest("acme/list", Some("1"), DOCKER_LIST, &list);

    let arm64 = platform("linux/arm64");
    filler.image_with("acme/arm64", Some("oci"), (MANIFEST, CONFIG), &arm64);
    let types = (DOCKER_MANIFEST, DOCKER_CONFIG);
    filler.image_with("acme/arm64", Some("docker"), types, &arm64);

    let mut attestation = filler.entry("acme/attested", "unknown/unknown");
    attestation["annotations"] = json!({"vnd.docker.reference.type": "attestation-manifest"});
    let entries = [filler.entry("acme/attested", "linux/arm64"), attestation];
    filler.index("acme/attested", Some("1"), &entries);

    let inner = [
        filler.entry("acme/nested", "linux/amd64"),
        filler.entry("acme/nested", "linux/arm64"),
    ];
    let inner = filler.index("acme/nested", None, &inner);
    filler.index("acme/nested", Some("1"), &[inner]);

    let entry = filler.image("acme/platformless", "linux/arm64");
    filler.index("acme/platformless", Some("1"), &[entry]);

    let helm = (MANIFEST, "application/vnd.cncf.helm.config.v1+json");
    filler.image_with("acme/chart", Some("1"), helm, &json!({"name": "chart"}));
    let empty = (MANIFEST, "application/vnd.oci.empty.v1+json");
    filler.image_with("acme/artifact", Some("1"), empty, &json!({}));

    let odd = |tag: &str, config: &Value| {
        filler.image_with("acme/odd", Some(tag), (MANIFEST, CONFIG), config);
    };
    odd(
        "no-architecture",
        &json!({"os": "linux", "architecture": "", "x": null}),
    );
    odd(
        "no-os",
        &json!({"architecture": "arm64", "history": "none"}),
    );
}

/// An answer to a request: a status and a body; `None` to hang.
type Reply = Option<(&'static str, String)>;

/// A server that answers requests for paths as a test says.
pub(crate) struct Server {
    /// Its host and port.
    pub(crate) host: String,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server; it ends with the process.
    pub(crate) fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let paths: Arc<Mutex<Vec<String>>> = Arc::default();
        let reply = Arc::new(reply);
        let seen = Arc::clone(&paths);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (reply, seen) = (Arc::clone(&reply), Arc::clone(&seen));
                thread::spawn(move || serve(stream, reply.as_ref(), &seen));
            }
        });
        Self { host, paths }
    }

    /// How many requests there were for paths with `part`.
    pub(crate) fn requests(&self, part: &str) -> usize {
        let paths = self.paths.lock().unwrap();
        paths.iter().filter(|path| path.contains(part)).count()
    }
}

/// Answers one request; what is none is told so, as a TLS handshake.
fn serve(mut stream: TcpStream, reply: &dyn Fn(&str) -> Reply, seen: &Mutex<Vec<String>>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1024];
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => bytes.extend_from_slice(&buffer[..read]),
            _ => return,
        }
        if !bytes.starts_with(b"GET ") && !bytes.starts_with(b"HEAD ") {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            return;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let path = text
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    seen.lock().unwrap().push(path.clone());
    let answer = if path == "/v2/" {
        Some(("200 OK", "{}".to_owned()))
    } else {
        reply(&path)
    };
    let Some((status, body)) = answer else {
        thread::sleep(Duration::from_secs(3600));
        return;
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/vnd.oci.image.index.v1+json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}
