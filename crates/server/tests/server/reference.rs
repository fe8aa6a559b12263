//! `docs/api.md` is made of the document.

use std::fmt::Write;

use serde_json::Value;

use crate::document::{Operation, description, document, operations};

const OPENING: &str = "\
# API

What operators can ask and do, over HTTP. The page is made of the [OpenAPI](https://www.openapis.org) 3.1 document that the server has at
`/api/openapi.json`; `cargo test -p posthaste-server` holds the two against each other, and `POSTHASTE_BLESS=1` in front of it writes the page.

Every request but those that say so needs a token, as `authorization: Bearer TOKEN`. A viewer may `GET`, an operator everything. Every act is
written into the journal with the name of the token.

**Pages.** A listing answers with `items` and `next`. While `next` is not null there may be more: send it as `cursor`. A page can be short and still have a
`next`.

**Problems.** What is not a success is a problem ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) of the type `application/problem+json`, with every field
that is wrong in `errors`:

```json
{
  \"type\": \"urn:posthaste:problem:invalid\",
  \"title\": \"the request is not understood\",
  \"status\": 400,
  \"detail\": \"limit is \\\"0\\\"; allowed is a whole number from 1 to 1000\",
  \"errors\": [{ \"field\": \"limit\", \"detail\": \"is \\\"0\\\"; allowed is a whole number from 1 to 1000\" }]
}
```

| status | type ends with | meaning |
|---|---|---|
| 400 | `invalid` | the request breaks a rule; all of it is said |
| 401 | `unauthorized` | no token, or one that nobody knows |
| 403 | `forbidden` | a viewer may not do this, or the request comes from another site |
| 404 | `not-found` | there is nothing there |
| 405 | `wrong-method` | this cannot be done here |
| 409 | `refused` | not in the present state; the detail says what to do first |
| 413, 415 | `too-large`, `media-type` | the body is too large, or not JSON |
| 421 | `misdirected` | the header `host` names another host |
| 429 | `too-many` | too many wrong tokens from this address; `retry-after` says for how long |
| 503 | `unavailable` | the database does not answer, or too much is asked for at once |
";

fn page() -> String {
    let mut page = OPENING.to_owned();
    let mut tag = String::new();
    let mut all = operations();
    let order =
        ["server", "status", "subscriptions", "events", "dead letters", "jobs", "audit", "live", "health"];
    let place = |operation: &Operation| {
        let tag = operation.value["tags"][0].as_str().unwrap().to_owned();
        order.iter().position(|known| *known == tag).unwrap_or_else(|| panic!("{tag} has its place"))
    };
    all.sort_by_key(place);
    for operation in &all {
        let its = operation.value["tags"][0].as_str().unwrap();
        if its != tag {
            its.clone_into(&mut tag);
            _ = write!(page, "\n## {}{}\n", its[..1].to_uppercase(), &its[1..]);
        }
        page.push_str(&section(operation));
    }
    page.push_str("\n## What answers have\n");
    for (name, schema) in document()["components"]["schemas"].as_object().unwrap() {
        page.push_str(&table(name, schema));
    }
    page
}

fn section(operation: &Operation) -> String {
    let value = &operation.value;
    let text = |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ");
    let mut section =
        format!("\n### `{} {}`\n\n{}", operation.method, operation.path, text(&value["summary"]));
    if value["description"].is_string() {
        _ = write!(section, " {}", text(&value["description"]));
    }
    section.push_str(if operation.is_public() {
        "\n\nNeeds no token, unless it is said otherwise.\n"
    } else if operation.method == "GET" {
        "\n"
    } else {
        "\n\nOperators only.\n"
    });
    let parameters = value["parameters"].as_array().cloned().unwrap_or_default();
    if !parameters.is_empty() {
        section.push_str("\n| parameter | where | meaning |\n|---|---|---|\n");
        for parameter in &parameters {
            let (name, place) = (text(&parameter["name"]), text(&parameter["in"]));
            _ = writeln!(section, "| `{name}` | {place} | {} |", text(&parameter["description"]));
        }
    }
    _ = write!(section, "\n```sh\n{}\n```\n", command(operation));
    let success = value["responses"].as_object().unwrap().iter().find(|(status, _)| status.starts_with('2'));
    if let Some(name) =
        success.and_then(|(_, response)| schema_name(&response["content"]["application/json"]["schema"]))
    {
        _ = write!(section, "\nAnswers with [{name}](#{}).\n", anchor(&name));
    }
    section
}

/// A command that can be copied.
fn command(operation: &Operation) -> String {
    let parameters = operation.value["parameters"].as_array().cloned().unwrap_or_default();
    let example = |name: &str| {
        let found = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        let value = &found["example"];
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    let mut path = String::new();
    for (index, part) in operation.path.split(['{', '}']).enumerate() {
        path.push_str(&if index % 2 == 0 { part.to_owned() } else { example(part) });
    }
    let query: Vec<String> = parameters
        .iter()
        .filter(|parameter| {
            parameter["in"] == "query" && parameter["name"] != "cursor" && !parameter["example"].is_null()
        })
        .map(|parameter| {
            format!(
                "{}={}",
                parameter["name"].as_str().unwrap(),
                example(parameter["name"].as_str().unwrap())
            )
        })
        .collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let method = if operation.method == "GET" { String::new() } else { format!(" -X {}", operation.method) };
    let token = if operation.is_public() { "" } else { " -H \"authorization: Bearer $TOKEN\"" };
    let body = body(operation)
        .map_or(String::new(), |body| format!(" \\\n  -H 'content-type: application/json' -d '{body}'"));
    format!("curl{method}{token} 'http://127.0.0.1:8025{path}{query}'{body}")
}

/// A body of the fields that have an example.
fn body(operation: &Operation) -> Option<String> {
    let schema = &operation.value["requestBody"]["content"]["application/json"]["schema"];
    let name = schema_name(schema)?;
    let fields = document()["components"]["schemas"][&name]["properties"].as_object()?.clone();
    let pairs: Vec<String> = fields
        .iter()
        .filter(|(_, field)| !field["example"].is_null())
        .map(|(name, field)| format!("\"{name}\": {}", field["example"]))
        .collect();
    Some(format!("{{{}}}", pairs.join(", ")))
}

fn schema_name(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.rsplit('/').next().map(str::to_owned)
}

fn anchor(name: &str) -> String {
    name.to_lowercase()
}

fn table(name: &str, schema: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ");
    let mut table = format!("\n### {name}\n\n{}\n", text(&schema["description"]));
    let Some(fields) = schema["properties"].as_object() else {
        if let Some(words) = schema["enum"].as_array() {
            let words: Vec<String> =
                words.iter().map(|word| format!("`{}`", word.as_str().unwrap())).collect();
            _ = write!(table, "\nOne of {}.\n", words.join(", "));
        }
        return table;
    };
    table.push_str("\n| field | type | meaning |\n|---|---|---|\n");
    for (field, value) in fields {
        _ = writeln!(
            table,
            "| `{field}` | {} | {} |",
            type_of(value),
            description(value).unwrap_or_default().replace('\n', " ")
        );
    }
    table
}

fn type_of(value: &Value) -> String {
    if let Some(name) = schema_name(value) {
        return format!("[{name}](#{})", anchor(&name));
    }
    if let Some(all) = value["oneOf"].as_array().or(value["allOf"].as_array()) {
        return all.iter().map(type_of).collect::<Vec<_>>().join(" or ");
    }
    let name = match &value["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        name => name.as_str().unwrap_or("any").to_owned(),
    };
    match name.as_str() {
        "array" => format!("list of {}", type_of(&value["items"])),
        "object" if value["additionalProperties"].is_object() => {
            format!("names with {}", type_of(&value["additionalProperties"]))
        }
        _ => name,
    }
}

#[test]
fn the_page_is_made_of_the_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
    let page = page();
    if std::env::var("POSTHASTE_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/api.md is not what the document says; POSTHASTE_BLESS=1 writes it");
}
