//! The evaluation of one request: data enters as bytes, flows one way, and leaves as one response.

use crate::{
    decision::{Decision, Evidence, Situation, Verdict, decide},
    host::Host,
    image::{Image, Lookups, images_of},
    json::{Json, Mismatch, Object},
    placement::{apply, recorded, strip},
    pod::{self, Labels},
    response::Response,
    settings::Settings,
    text::{elide_end, one_line},
    workload::{Kind, Scope, Workload},
};

/// The longest name of an object in the log: the longest that the API server takes.
const LONGEST_NAME: usize = 253;

/// Answers `validate`: `payload` is the JSON of `{"request": …, "settings": …}`.
///
/// Whatever the payload, there is a response: what can't be read is a rejection.
pub fn validate<'a>(payload: &'a [u8], host: &mut dyn Host) -> Response<'a> {
    let (mut request, settings) = match read_payload(payload) {
        Ok(read) => read,
        Err(reason) => return Response::unreadable(&reason),
    };
    let settings = match Settings::read(settings) {
        Ok(settings) => settings,
        Err(invalid) => return Response::invalid_settings(&invalid.to_string()),
    };
    let response = match Scope::of(&mut request) {
        Ok(Scope::Out(reason)) => return Response::out_of_scope(reason),
        Ok(Scope::In(workload)) => evaluate(workload, &settings, host),
        Err(mismatch) => Err(mismatch),
    };
    response.unwrap_or_else(|mismatch| Response::unreadable(&mismatch.to_string()))
}

/// The admission request and the settings.
fn read_payload(payload: &[u8]) -> Result<(Object<'_>, Json<'_>), String> {
    let text = std::str::from_utf8(payload).map_err(|error| error.to_string())?;
    let mut payload = Json::parse(text).map_err(|error| error.to_string())?;
    let members = payload
        .object_at("payload")
        .map_err(|mismatch| mismatch.to_string())?;
    let settings = members.take("settings").unwrap_or(Json::Null);
    match members.member("request", "request") {
        Ok(Some(request)) => Ok((std::mem::take(request), settings)),
        Ok(None) => Err("request: missing".to_owned()),
        Err(mismatch) => Err(mismatch.to_string()),
    }
}

fn evaluate<'a>(
    mut workload: Workload<'a>,
    settings: &Settings,
    host: &mut dyn Host,
) -> Result<Response<'a>, Mismatch> {
    let (kind, images_are_placed) = (workload.kind, workload.images_are_placed);
    let strict = settings.strict_in(&workload.namespace);
    let Some(template) = workload.template()? else {
        return Ok(Response::out_of_scope("no Pod template"));
    };
    // How it came, where an earlier placement may come out the same.
    let mut before = None;
    if settings.annotate
        && let Some(record) = recorded(template, settings)
    {
        before = Some(template.canonical());
        strip(template, &record);
    }
    let mut labels = Labels::read(template, settings)?;
    let Some(spec) = template.member("spec", "spec")? else {
        return Ok(Response::out_of_scope("no Pod spec"));
    };
    let situation = Situation {
        settings,
        strict,
        constraints: pod::constraints(spec, &mut labels.matched)?,
        matched_labels: labels.matched,
        preferred_label: labels.preferred,
        runs_everywhere: kind == Kind::DaemonSet,
        // They only matter to those that may be added.
        tolerations: if settings.tolerations.is_empty() {
            Vec::new()
        } else {
            pod::tolerations(spec)?
        },
    };
    if situation.constraints.names_its_nodes() {
        return Ok(Response::out_of_scope("its node affinity names its nodes"));
    }

    let mut evidence = Evidence::new(&situation);
    if situation.needs_images() {
        let images = images_of(spec, settings.image_volumes)?;
        let has_runtime_class = spec.text("runtimeClassName").is_some();
        let mut lookups = Lookups::new(host, settings, has_runtime_class);
        gather(&mut evidence, images, &mut lookups);
    }
    let mut decision = decide(&situation, &evidence);

    let mut is_changed = false;
    if let Verdict::Accept { placement, summary } = &mut decision.verdict {
        let is_known = decision.failed_lookups == 0;
        if before.is_some() && images_are_placed && !is_known {
            // It was placed when its images could be read. That they can't be now is no reason to let it go anywhere.
            *summary = "unchanged: its earlier placement stands".to_owned();
        } else {
            apply(template, placement, settings.annotate)?;
            is_changed = match before {
                Some(before) => before != template.canonical(),
                None => !placement.is_empty(),
            };
        }
    }
    log(&decision, is_changed, &mut workload, host);
    Ok(Response::from_decision(
        decision,
        is_changed.then_some(workload.object),
    ))
}

fn gather(evidence: &mut Evidence<'_>, images: Vec<Image>, lookups: &mut Lookups<'_>) {
    for image in images {
        if evidence.is_settled() {
            break;
        }
        let finding = lookups.find(&image);
        evidence.add(image.reference, finding);
    }
}

/// Logs a decision that changed or refused something, in one event.
fn log(decision: &Decision, is_changed: bool, workload: &mut Workload<'_>, host: &mut dyn Host) {
    let (level, outcome, detail) = match &decision.verdict {
        Verdict::Reject(message) => ("warning", "rejected", message),
        Verdict::Accept { summary, .. } if is_changed => ("info", "placed", summary),
        Verdict::Accept { .. } => return,
    };
    let name = object_name(&mut workload.object);
    let kind = workload.kind.name();
    let bounded = |text: &str| elide_end(one_line(text), LONGEST_NAME);
    let (namespace, name) = (bounded(&workload.namespace), bounded(&name));
    let message = one_line(&format!("{outcome} {kind} {namespace}/{name}: {detail}"));
    let event = Object::default()
        .with("level", level)
        .with("message", Json::String(message))
        .with("kind", kind)
        .with("namespace", Json::String(namespace))
        .with("name", Json::String(name));
    host.log(&Json::Object(event).into_bytes());
}

/// The object's name, or the start of the one that the API server will generate.
fn object_name(object: &mut Json<'_>) -> String {
    object
        .as_object()
        .and_then(|object| object.get_object("metadata"))
        .and_then(|metadata| {
            metadata
                .text("name")
                .or_else(|| metadata.text("generateName"))
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
