//! The OpenAPI document: made of the routes, and of what holds for all of them.
//!
//! Which problems an operation may answer with follows from what it is: who may ask, what it is sent, what it names. Where a handler
//! knows of one more, it says so itself. Of a request it says more than the types of its fields can, from which the schemas are made: a
//! field that need not be there is left out, and never null.

use serde_json::{Map, Value, json};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        self,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{closed, narrow, public};
use crate::{
    live::notice::Notice,
    problem::{MEDIA_TYPE, Problem},
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Posthaste",
        description = "What operators can ask and do. Every answer that is no success is a problem (RFC 9457) of the type application/problem+json. \
                       Listings have pages: `next` of one is the `cursor` of the following. Whoever is no operator may only GET.",
        license(name = "MIT OR Apache-2.0")
    ),
    modifiers(&Bearer),
    security(("bearer" = [])),
    components(schemas(Problem, Notice)),
)]
struct Document;

/// Everything needs a token.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", scheme);
    }
}

/// The OpenAPI 3.1 document of the API.
#[must_use]
pub fn document() -> String {
    let mut document = Document::openapi();
    document.merge(closed().into_openapi());
    document.merge(public().into_openapi());
    let mut document = serde_json::to_value(&document).unwrap_or_default();
    document["components"]["responses"]["Problem"] =
        json!({ "description": "why it was not done", "content": { MEDIA_TYPE: problem() } });
    let mut sent = Vec::new();
    for (path, item) in fields(&mut document["paths"]) {
        for (method, operation) in fields(item) {
            let statuses = problems(path, method, operation);
            add_problems(&mut operation["responses"], &statuses);
            if let Some(Value::Array(parameters)) = operation.get_mut("parameters") {
                for parameter in parameters {
                    let name = parameter["name"].as_str().unwrap_or_default().to_owned();
                    narrow::field(&name, &mut parameter["schema"]);
                }
            }
            sent.extend(schema_name(&operation["requestBody"]["content"]["application/json"]["schema"]));
        }
    }
    for name in sent {
        narrow_all(&mut document["components"]["schemas"], &name);
    }
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

/// What a problem looks like.
fn problem() -> Value {
    json!({ "schema": { "$ref": "#/components/schemas/Problem" } })
}

fn fields(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flat_map(Map::iter_mut)
}

/// The statuses of the problems that an operation may answer with.
fn problems(path: &str, method: &str, operation: &Value) -> Vec<&'static str> {
    let security = operation.get("security").and_then(Value::as_array);
    let needs_token = security.is_none_or(|list| list.iter().any(|one| one.get("bearer").is_some()));
    let mut statuses = vec!["400"];
    statuses.extend(needs_token.then_some("401"));
    statuses.extend((method != "get").then_some("403"));
    statuses.extend(path.contains('{').then_some("404"));
    statuses.extend(["409", "413", "415"].into_iter().filter(|_| method != "get"));
    statuses.push("421");
    statuses.extend(needs_token.then_some("429"));
    statuses.push("503");
    statuses
}

/// Adds them to the answers of an operation, and to those that it has a description of.
fn add_problems(responses: &mut Value, statuses: &[&str]) {
    for status in statuses.iter().chain(&["default"]) {
        let response = &mut responses[*status];
        if response.is_null() {
            *response = json!({ "$ref": "#/components/responses/Problem" });
        }
    }
    let told = fields(responses)
        .filter(|(status, response)| status.starts_with(['4', '5']) && response.get("$ref").is_none());
    for (_, response) in told {
        response["content"][MEDIA_TYPE] = problem();
    }
}

fn schema_name(schema: &Value) -> Option<String> {
    schema.get("$ref")?.as_str()?.rsplit('/').next().map(str::to_owned)
}

/// Narrows what is sent, its fields, and what is in them.
fn narrow_all(schemas: &mut Value, name: &str) {
    let mut inner = Vec::new();
    let Some(Value::Object(body)) = schemas.get_mut(name) else { return };
    narrow::body(name, body);
    for (name, field) in body.get_mut("properties").into_iter().flat_map(fields) {
        narrow::field(name, field);
        inner.extend(schema_name(field));
    }
    for name in inner {
        narrow_all(schemas, &name);
    }
}
