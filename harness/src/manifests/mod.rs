//! Kubernetes manifests, read as kubectl takes them.
//!
//! A text is JSON, any number of values one behind the other, or a stream of YAML documents, whose merge keys (`<<`) are
//! followed. A folder stands for the manifests in it and in the folders below.

mod pruned;

use std::{
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
    /// A line for each file or folder that couldn't be read.
    pub unreadable: Vec<String>,
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
        let read = if path.is_dir() {
            files_in(path).map(|files| files.iter().for_each(|file| self.add(file)))
        } else {
            read_documents(path).map(|documents| self.documents.extend(documents))
        };
        if let Err(error) = read {
            self.unreadable
                .push(format!("{error:#}").replace('\n', " "));
        }
    }
}

/// The manifests and folders in a folder, by their names.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() || ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads the documents in the file `path`, `-` for standard input, without what has no say.
///
/// JSON is read without its text in memory, which for a large cluster is most of it.
fn read_documents(path: &Path) -> Result<Vec<Value>> {
    let unreadable = || format!("cannot read {}", path.display());
    let mut file = if path == Path::new("-") {
        let mut file = tempfile::tempfile().context("cannot make a temporary file")?;
        io::copy(&mut stdin(), &mut file).context("cannot read standard input")?;
        file
    } else {
        File::open(path).with_context(unreadable)?
    };
    file.rewind().with_context(unreadable)?;
    let json: Result<Vec<Pruned>, _> = serde_json::Deserializer::from_reader(BufReader::new(&file))
        .into_iter()
        .collect();
    let documents = match json {
        Ok(documents) => documents,
        Err(_) => {
            let mut text = String::new();
            file.rewind().with_context(unreadable)?;
            file.read_to_string(&mut text).with_context(unreadable)?;
            parsed(&text).with_context(|| format!("{} is no manifest", path.display()))?
        }
    };
    let documents = documents.into_iter().map(|Pruned(document)| document);
    Ok(documents.filter(|document| !document.is_null()).collect())
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
    let mut documents: Vec<Value> = parsed(text)?;
    documents.retain(|document| !document.is_null());
    Ok(documents)
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    let text = text.trim_start_matches('\u{feff}');
    // JSON is read as such: YAML has no exact numbers.
    let values: Result<Vec<T>, _> = serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect();
    match values {
        Ok(values) => Ok(values),
        Err(_) => of_yaml(text),
    }
}

fn of_yaml<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    let mut documents = Vec::new();
    for document in yaml_serde::Deserializer::from_str(text) {
        let value = yaml_serde::Value::deserialize(document).and_then(|mut value| {
            value.apply_merge()?;
            yaml_serde::from_value(value)
        });
        documents.push(value.context("it is neither JSON nor YAML")?);
    }
    Ok(documents)
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
}
