//! The structure of the core is the one in docs/architecture.md: modules import only what the table there allows them to,
//! which is always above them, and the files of a folder import each other in one direction.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests may fail by panicking.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A module, as the path of names below the crate: `decision::candidates`.
type Module = Vec<String>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below `src`, but for those of tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !["tests", "cases", "table"].contains(&name.as_str()) || is_of_settings(&path) {
            found.push(path);
        }
    }
    found
}

/// `settings/table.rs` is a table of settings; `host/table.rs` is a host for tests.
fn is_of_settings(path: &Path) -> bool {
    path.ends_with("settings/table.rs")
}

fn module_of(file: &Path) -> Module {
    let path = file
        .strip_prefix(root().join("src"))
        .unwrap()
        .with_extension("");
    let mut module: Module = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if module
        .last()
        .is_some_and(|name| name == "mod" || name == "lib")
    {
        module.pop();
    }
    module
}

/// Every module of the core, with the paths that it imports: `crate::…` and `super::…`, without what tests import.
fn imports() -> BTreeMap<Module, BTreeSet<Module>> {
    let files = files(&root().join("src"));
    let modules: BTreeSet<Module> = files.iter().map(|file| module_of(file)).collect();
    let mut imports = BTreeMap::new();
    for file in files {
        let module = module_of(&file);
        let text = fs::read_to_string(&file).unwrap();
        let is_folder = file.ends_with("mod.rs") || file.ends_with("lib.rs");
        let mut imported = BTreeSet::new();
        for path in uses(&text) {
            let Some(path) = absolute(&path, &module, is_folder) else {
                continue;
            };
            // The longest part of the path that is a module; the rest are items in it.
            let lengths = (1..=path.len()).rev();
            let target = lengths.map(|length| path[..length].to_vec());
            if let Some(target) = target.into_iter().find(|path| modules.contains(path))
                && target != module
            {
                imported.insert(target);
            }
        }
        imports.insert(module, imported);
    }
    imports
}

/// The paths in the `use` declarations of a file, groups taken apart.
fn uses(text: &str) -> Vec<Module> {
    let mut paths = Vec::new();
    for declaration in text.split(';') {
        let start = ["\nuse ", "\npub use ", "\npub(super) use ", "\n    use "]
            .iter()
            .find_map(|start| declaration.rfind(start).map(|at| at + start.len()));
        if let Some(start) = start {
            expand(&[], declaration[start..].trim(), &mut paths);
        }
    }
    paths
}

fn expand(prefix: &[String], text: &str, paths: &mut Vec<Module>) {
    match text.split_once('{') {
        Some((head, group)) => {
            let mut prefix = prefix.to_vec();
            let names = head
                .split("::")
                .map(str::trim)
                .filter(|name| !name.is_empty());
            prefix.extend(names.map(str::to_owned));
            let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
            let (mut depth, mut start) = (0, 0);
            for (at, letter) in group.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        expand(&prefix, group[start..at].trim(), paths);
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            expand(&prefix, group[start..].trim(), paths);
        }
        None if text.is_empty() => {}
        None => {
            let mut path = prefix.to_vec();
            path.extend(text.split("::").map(|name| name.trim().to_owned()));
            paths.push(path);
        }
    }
}

/// The path below the crate; `None` for one into another crate.
fn absolute(path: &[String], module: &[String], is_folder: bool) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let parent = |module: &[String]| module[..module.len().saturating_sub(1)].to_vec();
    let base = match first.as_str() {
        "crate" => Vec::new(),
        "super" => parent(module),
        _ if is_folder => module.to_vec(),
        _ => return None,
    };
    let rest = if base.len() == module.len() {
        path
    } else {
        rest
    };
    Some([base, rest.to_vec()].concat())
}

/// The rows of the table: each module, and what it may import.
fn table() -> Vec<(String, BTreeSet<String>)> {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let (_, section) = page.split_once("\n## Modules\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let names = |cell: &str| {
        let parts = cell.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        (names(cells[1]).pop_first().unwrap(), names(cells[3]))
    })
    .collect()
}

#[test]
fn the_table_of_modules_is_the_code() {
    let mut actual: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, imported) in imports() {
        let Some(top) = module.first() else {
            continue;
        };
        let tops = imported
            .into_iter()
            .filter_map(|path| path.first().cloned());
        let row = actual.entry(top.clone()).or_default();
        row.extend(tops.filter(|other| other != top));
    }
    let listed: BTreeMap<String, BTreeSet<String>> = table().into_iter().collect();
    assert_eq!(actual, listed);
}

#[test]
fn arrows_between_modules_go_up_the_table_only() {
    let mut above = BTreeSet::new();
    for (module, imported) in table() {
        let others: Vec<&String> = imported.difference(&above).collect();
        assert!(others.is_empty(), "{module} imports {others:?}");
        above.insert(module);
    }
}

#[test]
fn no_file_imports_what_imports_it() {
    let imports = imports();
    for start in imports.keys() {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&Module> = imports[start].iter().collect();
        while let Some(module) = next.pop() {
            assert_ne!(module, start, "{start:?} imports itself by way of {seen:?}");
            if seen.insert(module) {
                next.extend(&imports[module]);
            }
        }
    }
}

#[test]
fn groups_of_imports_are_taken_apart() {
    let text = "//! a\nuse std::fmt;\n\nuse crate::{\n    a::{self, B},\n    c,\n};\npub use super::d::E;\n";
    let paths: Vec<String> = uses(text).iter().map(|path| path.join(" ")).collect();
    assert_eq!(
        paths,
        [
            "std fmt",
            "crate a self",
            "crate a B",
            "crate c",
            "super d E"
        ]
    );
}
