//! The evaluation of one request: data enters as bytes, flows one way, and leaves as one response.

use node_architecture_json::{Draft, DraftObject, Field, Json, Mismatch};

use crate::{
    decision::{Candidates, Decision, Outcome, decide},
    host::Host,
    image::{Lookups, images_of},
    placement::{PlacementRecord, apply, strip},
    pod::PodContext,
    request::{Kind, Payload},
    response::Response,
    scope::{Scope, Workload},
    settings::Settings,
    text::{elide_end, one_line},
    unchanged::Unchanged,
};

/// The longest name of an object in the log: the longest that the API server takes.
const LONGEST_NAME: usize = 253;

/// Answers `validate`: `payload` is the JSON of `{"request": …, "settings": …}`, the answer that of the SDK's
/// `ValidationResponse`.
///
/// Whatever the payload, there is a response: what can't be read is a rejection.
pub fn validate(payload: &[u8], host: &mut dyn Host) -> Vec<u8> {
    let Payload { request, settings } = match Payload::read(payload) {
        Ok(read) => read,
        Err(error) => return Response::unreadable(&error).into_bytes(),
    };
    let settings = match Settings::read(settings) {
        Ok(settings) => settings,
        Err(invalid) => return Response::invalid_settings(&invalid).into_bytes(),
    };
    match Scope::of(&request) {
        Ok(Scope::Out(reason)) => Response::out_of_scope(reason).into_bytes(),
        Ok(Scope::In(workload)) => evaluate(&workload, &settings, host)
            .unwrap_or_else(|mismatch| Response::unreadable(&mismatch).into_bytes()),
        Err(mismatch) => Response::unreadable(&mismatch).into_bytes(),
    }
}

fn evaluate(
    workload: &Workload<'_>,
    settings: &Settings,
    host: &mut dyn Host,
) -> Result<Vec<u8>, Mismatch> {
    let record = if settings.annotate {
        PlacementRecord::of(workload.template, settings)
    } else {
        None
    };
    let without_ours = record.as_ref().map(|record| {
        let mut template = Draft::from(workload.template);
        strip(&mut template, record);
        template.to_string()
    });
    let template = match &without_ours {
        Some(text) => Json::parse(text).unwrap_or(workload.template),
        None => workload.template,
    };
    let root = Field::root(template, workload.kind.template_name());
    let Some(spec) = root.field("spec")? else {
        return Ok(Response::out_of_scope(Unchanged::NoPodSpec).into_bytes());
    };
    let pod = PodContext::read(
        &root,
        &spec,
        settings,
        settings.strict_in(&workload.namespace),
        workload.kind == Kind::DaemonSet,
        record.is_some() && workload.images_are_placed,
    )?;
    let mut candidates = Candidates::new(&pod);
    if pod.needs_images() {
        let mut lookups = Lookups::new(host, settings, pod.has_runtime_class);
        for image in images_of(&spec, settings.image_volumes)? {
            if candidates.is_settled() {
                break;
            }
            let support = lookups.find(&image);
            candidates.add(image.reference, support);
        }
    }
    let decision = decide(&pod, &candidates);

    let changed = changed(workload, template, record.is_some(), &decision, settings);
    log(&decision, changed.is_some(), workload, host);
    Ok(Response::from_decision(&decision, changed).into_bytes())
}

/// The object after the decision; `None` where it is as it came.
fn changed<'a>(
    workload: &Workload<'a>,
    template: Json<'a>,
    was_placed: bool,
    decision: &Decision,
    settings: &Settings,
) -> Option<Draft<'a>> {
    let keeps_the_template = matches!(
        decision.outcome,
        Outcome::Rejected(_)
            | Outcome::NotPlaced {
                reason: Unchanged::EarlierPlacementStands,
                ..
            }
    );
    if keeps_the_template || (!was_placed && decision.placement.is_empty()) {
        return None;
    }
    let mut placed = Draft::from(template);
    apply(&mut placed, &decision.placement, settings.annotate)?;
    if was_placed && placed.canonical() == workload.template.canonical() {
        return None;
    }
    let mut object = Draft::from(workload.object);
    let mut place = &mut object;
    for key in workload.kind.template_path() {
        place = place.as_object_mut()?.get_mut(key)?;
    }
    *place = placed;
    Some(object)
}

/// Logs a decision that changed or refused something, in one event.
fn log(decision: &Decision, is_changed: bool, workload: &Workload<'_>, host: &mut dyn Host) {
    let (level, verb) = match &decision.outcome {
        Outcome::Rejected(_) => ("warning", "rejected"),
        _ if is_changed => ("info", "placed"),
        _ => return,
    };
    let kind = workload.kind.name();
    let bounded = |text: &str| elide_end(one_line(text), LONGEST_NAME);
    let (namespace, name) = (
        bounded(&workload.namespace),
        bounded(&object_name(workload.object)),
    );
    let outcome = &decision.outcome;
    let message = one_line(&format!("{verb} {kind} {namespace}/{name}: {outcome}"));
    let event = DraftObject::default()
        .with("level", level)
        .with("message", message.as_str())
        .with("kind", kind)
        .with("namespace", namespace.as_str())
        .with("name", name.as_str());
    host.log(&Draft::from(event).into_bytes());
}

/// The object's name, or the start of the one that the API server will generate.
fn object_name(object: Json<'_>) -> String {
    let metadata = object.get("metadata").unwrap_or(Json::NULL);
    metadata
        .text_of("name")
        .or_else(|| metadata.text_of("generateName"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
