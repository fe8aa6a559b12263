//! Asking a file for its values. Whatever is wrong is noted, and reading goes on with the default.

use std::{
    cell::{Cell, RefCell},
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::{
    environment::{Environment, expand, from_file},
    field::{Absent, Field, Form, Path, Shown},
    former,
    kind::{Kind, plain},
    problem::{Place, Problem},
    suggest::nearest,
    tree::{Entry, Node, Value},
};

/// What all sections of a file share.
pub(crate) struct Reader<'e> {
    environment: &'e dyn Environment,
    problems: RefCell<Vec<Problem>>,
    fields: RefCell<Vec<Field>>,
    /// The mark of what was read since the last field was noted.
    mark: Cell<u64>,
}

impl<'e> Reader<'e> {
    pub(crate) fn new(environment: &'e dyn Environment) -> Self {
        Self { environment, problems: RefCell::default(), fields: RefCell::default(), mark: Cell::default() }
    }

    /// Everything that was wrong, and everything that was asked for.
    pub(crate) fn into_parts(self) -> (Vec<Problem>, Vec<Field>) {
        (self.problems.into_inner(), self.fields.into_inner())
    }

    fn problem(&self, place: &Place, text: String) {
        self.problems.borrow_mut().push(Problem { place: place.clone(), text });
    }
}

/// Keys with values, at one place of the file.
pub(crate) struct Section<'a> {
    reader: &'a Reader<'a>,
    path: Path,
    place: Place,
    entries: &'a [Entry],
    /// The keys that were asked for: those that exist.
    asked: RefCell<Vec<&'static str>>,
    /// How many problems there were before it.
    before: usize,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(crate) fn root(reader: &'a Reader<'a>, node: &'a Node) -> Self {
        Self::of(reader, Path::default(), &node.place, node)
    }

    fn of(reader: &'a Reader<'a>, path: Path, place: &Place, node: &'a Node) -> Self {
        let before = reader.problems.borrow().len();
        let entries = match &node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Nothing => &[],
            other => {
                let name = if path.steps().is_empty() { "the file".to_owned() } else { path.to_string() };
                let what = what_it_is(other);
                reader.problem(place, format!("{name} is {what}; keys with values are allowed"));
                &[]
            }
        };
        Self { reader, path, place: place.clone(), entries, asked: RefCell::default(), before }
    }

    /// Where the section is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A value that has a default.
    pub(crate) fn or<T>(&self, key: &'static str, kind: &Kind<T>, default: T) -> T {
        let shown = kind.show(&default);
        self.or_as(key, kind, default, shown)
    }

    /// A value whose default is told in these words.
    pub(crate) fn or_as<T>(&self, key: &'static str, kind: &Kind<T>, default: T, told: String) -> T {
        let (found, written) = self.read(key, kind);
        let value = found.unwrap_or(default);
        self.note(key, kind, (Absent::Is(told), Shown::Text(kind.show(&value)), written));
        value
    }

    /// A value that may be missing.
    pub(crate) fn optional<T>(&self, key: &'static str, kind: &Kind<T>) -> Option<T> {
        let (found, written) = self.read(key, kind);
        let shown = found.as_ref().map_or(Shown::Nothing, |value| Shown::Text(kind.show(value)));
        self.note(key, kind, (Absent::Nothing, shown, written));
        found
    }

    /// A value that has to be there. None only if that is noted as a problem.
    pub(crate) fn required<T>(&self, key: &'static str, kind: &Kind<T>) -> Option<T> {
        let (found, written) = self.read(key, kind);
        if written.is_none() {
            self.problem_here(format!("{} is missing; allowed is {}", self.path.key(key), kind.allowed));
        }
        let shown = found.as_ref().map_or(Shown::Nothing, |value| Shown::Text(kind.show(value)));
        self.note(key, kind, (Absent::Required, shown, written));
        found
    }

    /// A list of values; empty unless written.
    pub(crate) fn list<T>(&self, key: &'static str, kind: &Kind<T>) -> Vec<T> {
        self.list_or_as(key, kind, Vec::new(), "[]".to_owned())
    }

    /// A list of values whose default is told in these words.
    pub(crate) fn list_or_as<T>(
        &self,
        key: &'static str,
        kind: &Kind<T>,
        default: Vec<T>,
        told: String,
    ) -> Vec<T> {
        let entry = self.find(key);
        let items = match entry.map(|entry| &entry.node.value) {
            None => default,
            Some(Value::List(nodes)) => self.items(key, kind, nodes),
            Some(other) => {
                let what = what_it_is(other);
                let text = format!("is {what}; allowed is a list, each {}", kind.allowed);
                self.problem(key, text);
                default
            }
        };
        self.reader.fields.borrow_mut().push(Field {
            path: self.path.key(key),
            kind: format!("list of {}s", kind.name),
            form: Form::List(Box::new(kind.form.clone())),
            allowed: format!("each {}", kind.allowed),
            default: Absent::Is(told),
            value: Shown::List(items.iter().map(|item| kind.show(item)).collect()),
            written: entry.map(|entry| entry.place.clone()),
            veiled: kind.veiled,
            mark: self.reader.mark.take(),
            content: 0,
        });
        items
    }

    fn items<T>(&self, key: &str, kind: &Kind<T>, nodes: &[Node]) -> Vec<T> {
        let path = self.path.key(key);
        let read = |(index, node): (usize, &Node)| self.scalar(&path.item(index), &node.place, node, kind);
        nodes.iter().enumerate().filter_map(read).collect()
    }

    /// Names with values that are somebody else's to understand; none unless written.
    pub(crate) fn pairs(&self, key: &'static str, kind: &Kind<String>) -> Vec<(String, String)> {
        self.pairs_or_as(key, kind, &[], "{}".to_owned())
    }

    /// Names with values whose default is told in these words.
    pub(crate) fn pairs_or_as(
        &self,
        key: &'static str,
        kind: &Kind<String>,
        default: &[(String, String)],
        told: String,
    ) -> Vec<(String, String)> {
        let found = self.find(key);
        let inner =
            found.map(|entry| Section::of(self.reader, self.path.key(key), &entry.place, &entry.node));
        let entries = inner.as_ref().map_or(&[][..], |inner| inner.entries);
        let path = self.path.key(key);
        let read = |entry: &Entry| {
            let value = self.scalar(&path.key(&entry.key), &entry.place, &entry.node, kind)?;
            Some((entry.key.clone(), value))
        };
        let pairs: Vec<(String, String)> = match found {
            Some(_) => entries.iter().filter_map(read).collect(),
            None => default.to_vec(),
        };
        let shown = pairs.iter().map(|(name, value)| (name.clone(), kind.show(value))).collect();
        self.note(key, kind, (Absent::Is(told), Shown::Pairs(shown), found.map(|entry| entry.place.clone())));
        pairs
    }

    /// The section under a key; an empty one if it is not written.
    pub(crate) fn section(&self, key: &'static str) -> Section<'a> {
        self.section_if_written(key).unwrap_or_else(|| Section {
            reader: self.reader,
            path: self.path.key(key),
            place: self.place.clone(),
            entries: &[],
            asked: RefCell::default(),
            before: self.reader.problems.borrow().len(),
        })
    }

    /// The section under a key, if it is written.
    pub(crate) fn section_if_written(&self, key: &'static str) -> Option<Section<'a>> {
        let entry = self.find(key)?;
        Some(Section::of(self.reader, self.path.key(key), &entry.place, &entry.node))
    }

    /// The sections in a list, one after the other. Not written, or no list, is a problem, and so is an empty one.
    pub(crate) fn sections(&self, key: &'static str) -> impl Iterator<Item = Section<'a>> + use<'a> {
        let entry = self.find(key);
        let nodes = match entry.map(|entry| &entry.node.value) {
            Some(Value::List(nodes)) if !nodes.is_empty() => nodes.as_slice(),
            Some(Value::List(_) | Value::Nothing) => {
                self.problem(key, "is empty; at least one is needed");
                &[]
            }
            Some(other) => {
                let what = what_it_is(other);
                self.problem(key, format!("is {what}; allowed is a list, each item beginning with `- `"));
                &[]
            }
            None => {
                self.problem_here(format!("{} is missing; at least one is needed", self.path.key(key)));
                &[]
            }
        };
        let (reader, path) = (self.reader, self.path.key(key));
        nodes
            .iter()
            .enumerate()
            .map(move |(index, node)| Section::of(reader, path.item(index), &node.place, node))
    }

    /// The sections in a list, if it is written.
    pub(crate) fn sections_or_none(&self, key: &'static str) -> impl Iterator<Item = Section<'a>> + use<'a> {
        let written = self.entries.iter().any(|entry| entry.key == key);
        if !written {
            self.asked.borrow_mut().push(key);
        }
        written.then(|| self.sections(key)).into_iter().flatten()
    }

    /// Where a key is written; where the section is, if it is not.
    pub(crate) fn place_of(&self, key: &str) -> &Place {
        self.entries.iter().find(|entry| entry.key == key).map_or(&self.place, |entry| &entry.place)
    }

    /// Notes that something is wrong with a key, in words that follow its name.
    pub(crate) fn problem(&self, key: &str, text: impl AsRef<str>) {
        self.problem_with(key, &format!(" {}", text.as_ref()));
    }

    /// Notes that something is wrong at or below a key, in text that goes on where its name ends.
    pub(crate) fn problem_with(&self, key: &str, text: &str) {
        self.reader.problem(self.place_of(key), format!("{}{text}", self.path.key(key)));
    }

    /// Notes that something is wrong with the section, in words that follow its name.
    pub(crate) fn problem_itself(&self, text: impl AsRef<str>) {
        self.problem_here(format!("{} {}", self.path, text.as_ref()));
    }

    /// Whether nothing is written in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether nothing was found wrong since the section was begun.
    pub(crate) fn is_fine(&self) -> bool {
        self.reader.problems.borrow().len() == self.before
    }

    /// What is in a file that the value of a key names. Another content is another value.
    pub(crate) fn file(&self, key: &str, path: &str) -> std::io::Result<String> {
        let text = self.reader.environment.file(std::path::Path::new(path))?;
        let path = self.path.key(key);
        let mut fields = self.reader.fields.borrow_mut();
        if let Some(field) = fields.iter_mut().rfind(|field| field.path == path) {
            let mut hasher = DefaultHasher::new();
            (field.content, &text).hash(&mut hasher);
            field.content = hasher.finish();
        }
        Ok(text)
    }

    /// Ends asking: what is still unknown does not exist.
    pub(crate) fn end(self) {
        let asked = self.asked.borrow();
        for entry in self.entries.iter().filter(|entry| !asked.contains(&entry.key.as_str())) {
            let path = self.path.key(&plain(&entry.key));
            let elsewhere = former::leaves(&path, entry);
            for (path, place, hint) in &elsewhere {
                self.reader.problem(place, format!("{path} is not known; {hint}"));
            }
            if !elsewhere.is_empty() {
                continue;
            }
            let hint = match nearest(&entry.key, asked.iter().copied()) {
                Some(word) => format!("did you mean {word}?"),
                None => format!("known here are {}", asked.join(", ")),
            };
            self.reader.problem(&entry.place, format!("{path} is not known; {hint}"));
        }
    }

    fn problem_here(&self, text: String) {
        self.reader.problem(&self.place, text);
    }

    fn find(&self, key: &'static str) -> Option<&'a Entry> {
        self.asked.borrow_mut().push(key);
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value, if it is good, and whether something is written at all.
    fn read<T>(&self, key: &'static str, kind: &Kind<T>) -> (Option<T>, Option<Place>) {
        match self.find(key) {
            Some(entry) => {
                let value = self.scalar(&self.path.key(key), &entry.place, &entry.node, kind);
                (value, Some(entry.place.clone()))
            }
            None => (None, None),
        }
    }

    fn scalar<T>(&self, path: &Path, place: &Place, node: &Node, kind: &Kind<T>) -> Option<T> {
        let Value::Text(written) = &node.value else {
            let what = what_it_is(&node.value);
            self.reader.problem(place, format!("{path} is {what}; allowed is {}", kind.allowed));
            return None;
        };
        // Whoever sets a variable has a shell that puts others in; what still has a ${ in it is meant so.
        let expanded = match place {
            Place::Variable(_) => from_file(written, self.reader.environment),
            _ => expand(written, self.reader.environment),
        };
        let text = match expanded {
            Ok(text) => text,
            Err(problems) => {
                for problem in problems {
                    self.reader.problem(place, format!("{path} {problem}"));
                }
                return None;
            }
        };
        let mut hasher = DefaultHasher::new();
        (self.reader.mark.get(), &text).hash(&mut hasher);
        self.reader.mark.set(hasher.finish());
        // Shown as it is written: what came out of a variable or a file may be a secret.
        let wrong =
            |reason| self.reader.problem(place, format!("{path} is {}; {reason}", kind.show_text(written)));
        kind.parse(&text).map_err(wrong).ok()
    }

    /// Notes what was asked for: what counts otherwise, what counts, and whether that is written.
    fn note<T>(&self, key: &str, kind: &Kind<T>, (default, value, written): (Absent, Shown, Option<Place>)) {
        let (name, form) = match value {
            Shown::Pairs(_) => ("names with texts", Form::Pairs),
            _ => (kind.name, kind.form.clone()),
        };
        self.reader.fields.borrow_mut().push(Field {
            path: self.path.key(key),
            kind: name.to_owned(),
            form,
            allowed: kind.allowed.clone(),
            default,
            value,
            written,
            veiled: kind.veiled,
            mark: self.reader.mark.take(),
            content: 0,
        });
    }
}

fn what_it_is(value: &Value) -> &'static str {
    match value {
        Value::Nothing => "empty",
        Value::Text(_) => "a text",
        Value::List(_) => "a list",
        Value::Map(_) => "a section",
    }
}
