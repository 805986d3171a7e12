//! Kubernetes manifests, read as kubectl takes them.
//!
//! A text is JSON, any number of values one behind the other, or a stream of YAML documents, whose merge keys (`<<`) are
//! followed. A folder stands for the manifests in it and in the folders below.

mod pruned;

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, BufReader, IsTerminal, Read, Seek},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use pruned::Pruned;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// The endings of files in folders that are manifests.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// What was read, and what couldn't be.
#[derive(Debug, Default)]
pub struct Manifests {
    /// The documents, in the order of the paths; empty ones are left out, and so is what has no say in where Pods land.
    pub documents: Vec<Value>,
    /// A line for each file, folder or document that couldn't be read.
    pub unreadable: Vec<String>,
    seen: HashSet<PathBuf>,
}

impl Manifests {
    /// Reads `paths`: files, folders, and `-` for standard input. What can't be read is told, and the rest is read.
    pub fn read(paths: &[PathBuf]) -> Self {
        let mut manifests = Self::default();
        for path in paths {
            manifests.add(path);
        }
        manifests
    }

    fn add(&mut self, path: &Path) {
        // What was given twice counts once.
        if let Ok(whole) = path.canonicalize()
            && !self.seen.insert(whole)
        {
            return;
        }
        let read = if path.is_dir() {
            files_in(path).map(|files| files.iter().for_each(|file| self.add(file)))
        } else {
            self.add_documents(path)
        };
        if let Err(error) = read {
            self.unreadable
                .push(format!("{error:#}").replace('\n', " "));
        }
    }

    /// Reads the documents in the file `path`, `-` for standard input, without what has no say.
    ///
    /// JSON is read without its text in memory, which for a large cluster is most of it.
    fn add_documents(&mut self, path: &Path) -> Result<()> {
        let unreadable = || format!("cannot read {}", path.display());
        let mut file = if path == Path::new("-") {
            let mut file = tempfile::tempfile().context("cannot make a temporary file")?;
            io::copy(&mut stdin(), &mut file).context("cannot read standard input")?;
            file
        } else {
            File::open(path).with_context(unreadable)?
        };
        file.rewind().with_context(unreadable)?;
        let json: Result<Vec<Pruned>, _> =
            serde_json::Deserializer::from_reader(BufReader::new(&file))
                .into_iter()
                .collect();
        if let Ok(documents) = json {
            self.extend(documents);
            return Ok(());
        }
        let mut text = String::new();
        file.rewind().with_context(unreadable)?;
        file.read_to_string(&mut text).with_context(unreadable)?;
        let no_manifest = || format!("{} is no manifest", path.display());
        if let Ok(documents) = json_values(&text) {
            self.extend(documents);
            return Ok(());
        }
        let documents = yaml_documents(&text);
        let count = documents.len();
        for (index, document) in documents.into_iter().enumerate() {
            match document {
                Ok(document) => self.extend([Pruned::deserialize(document)?]),
                Err(error) if count == 1 => return Err(error).with_context(no_manifest),
                Err(error) => self.unreadable.push(format!(
                    "document {} of {}: {error:#}",
                    index + 1,
                    path.display()
                )),
            }
        }
        Ok(())
    }

    fn extend(&mut self, documents: impl IntoIterator<Item = Pruned>) {
        let documents = documents.into_iter().map(|Pruned(document)| document);
        let filled = documents.filter(|document| !document.is_null());
        self.documents.extend(filled);
    }
}

/// The manifests and folders in a folder, by their names.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        // Folders are never entered by a link, which may lead back, and hidden ones hold no manifests.
        let is_folder = entry.file_type().is_ok_and(|of| of.is_dir());
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_manifest = ending.is_some_and(|ending| ENDINGS.contains(&ending));
        if is_folder || (is_manifest && path.is_file()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Standard input, after a hint where a person is to type it.
fn stdin() -> io::Stdin {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        anstream::eprintln!("reading from the terminal; Ctrl-D ends it");
    }
    stdin
}

/// Reads the text of the file `path`, `-` for standard input.
///
/// # Errors
/// Where it can't be read or isn't UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        stdin()
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        return Ok(text);
    }
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The documents of `text`, empty ones left out.
///
/// # Errors
/// Where it is neither JSON nor YAML.
pub fn documents(text: &str) -> Result<Vec<Value>> {
    let mut documents = match json_values(text) {
        Ok(values) => values,
        Err(_) => yaml_documents(text).into_iter().collect::<Result<_>>()?,
    };
    documents.retain(|document: &Value| !document.is_null());
    Ok(documents)
}

/// The values of JSON. It is read as such, as YAML has no exact numbers.
fn json_values<T: DeserializeOwned>(text: &str) -> serde_json::Result<Vec<T>> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect()
}

/// The documents of a stream of YAML, each read or not. As for kubectl, a line that begins with `---` ends one, so that
/// one that can't be read leaves the others.
fn yaml_documents(text: &str) -> Vec<Result<Value>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut chunks = vec![String::new()];
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix("---"), chunks.last_mut()) {
            (Some(rest), _) => chunks.push(rest.to_owned()),
            (None, Some(chunk)) => chunk.push_str(line),
            (None, None) => {}
        }
    }
    chunks.retain(|chunk| !chunk.trim().is_empty());
    let read = |chunk: String| {
        let mut value: yaml_serde::Value =
            yaml_serde::from_str(&chunk).context("it is neither JSON nor YAML")?;
        value.apply_merge()?;
        Ok(as_json(value))
    };
    chunks.into_iter().map(read).collect()
}

/// A value of YAML as JSON: keys are texts, as kubectl makes them.
fn as_json(value: yaml_serde::Value) -> Value {
    match value {
        yaml_serde::Value::Mapping(members) => {
            let members = members.into_iter().map(|(key, value)| {
                let key = match as_json(key) {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                (key, as_json(value))
            });
            Value::Object(members.collect())
        }
        yaml_serde::Value::Sequence(elements) => {
            Value::Array(elements.into_iter().map(as_json).collect())
        }
        yaml_serde::Value::Tagged(tagged) => as_json(tagged.value),
        scalar => serde_json::to_value(scalar).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_values_may_stand_one_behind_the_other() {
        let text = "{\"a\": 1}{\"a\": 2}\n[3]";
        assert_eq!(
            documents(text).unwrap(),
            [json!({"a": 1}), json!({"a": 2}), json!([3])]
        );
    }

    #[test]
    fn numbers_of_json_keep_their_digits() {
        let documents = documents(r#"{"a": 12345678901234567}"#).unwrap();
        assert_eq!(documents[0].to_string(), r#"{"a":12345678901234567}"#);
    }

    #[test]
    fn yaml_documents_are_read_and_empty_ones_left_out() {
        let text = "---\na: 1\n---\n# nothing\n---\nb: [x]\n";
        assert_eq!(
            documents(text).unwrap(),
            [json!({"a": 1}), json!({"b": ["x"]})]
        );
        assert!(documents("").unwrap().is_empty());
    }

    #[test]
    fn merge_keys_and_anchors_of_yaml_are_followed() {
        let text = "base: &base {a: 1, b: 2}\nown: {<<: *base, b: 3}\n";
        let documents = documents(text).unwrap();
        assert_eq!(documents[0]["own"], json!({"a": 1, "b": 3}));
    }

    #[test]
    fn a_byte_order_mark_is_no_content() {
        assert_eq!(documents("\u{feff}{\"a\": 1}").unwrap(), [json!({"a": 1})]);
        assert_eq!(documents("\u{feff}a: 1").unwrap(), [json!({"a": 1})]);
    }

    #[test]
    fn what_is_neither_is_refused() {
        let error = documents("a: [").unwrap_err().to_string();
        assert_eq!(error, "it is neither JSON nor YAML");
    }

    #[test]
    fn folders_are_read_with_those_below_and_a_bad_file_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        write("b.yaml", "name: b");
        write("below/a.json", r#"{"name": "a"}"#);
        write("bad.yml", "name: [");
        write("notes.txt", "name: c");
        let manifests = Manifests::read(&[folder.path().to_owned()]);
        assert_eq!(
            manifests.documents,
            [json!({"name": "b"}), json!({"name": "a"})]
        );
        let [bad] = manifests.unreadable.as_slice() else {
            panic!("{:?}", manifests.unreadable);
        };
        assert!(bad.contains("bad.yml is no manifest"), "{bad}");
    }

    #[test]
    fn keys_of_yaml_that_are_no_texts_become_such() {
        let documents = documents("data: {8080: a, true: b}").unwrap();
        assert_eq!(documents, [json!({"data": {"8080": "a", "true": "b"}})]);
    }

    #[test]
    fn a_bad_document_of_a_stream_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.yaml");
        fs::write(&file, "a: 1\n---\nb: {c: 1, c: 2}\n---\nd: 3\n").unwrap();
        let manifests = Manifests::read(&[file]);
        assert_eq!(manifests.documents, [json!({"a": 1}), json!({"d": 3})]);
        let [bad] = manifests.unreadable.as_slice() else {
            panic!("{:?}", manifests.unreadable);
        };
        assert!(bad.starts_with("document 2 of "), "{bad}");
    }

    #[test]
    fn what_is_given_twice_or_by_a_link_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.yaml"), "a: 1").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(".", folder.path().join("loop")).unwrap();
        let twice = [folder.path().to_owned(), folder.path().join("a.yaml")];
        assert_eq!(Manifests::read(&twice).documents, [json!({"a": 1})]);
    }
}
