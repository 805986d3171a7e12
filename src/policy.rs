//! The evaluation of one request: data enters as bytes, flows one way, and leaves as one response.

use node_architecture_json::{Document, Draft, DraftObject, Json, Mismatch};

use crate::{
    decision::{Decision, Outcome, Warning},
    host::Host,
    image::Lookups,
    judge::{Judge, Judged},
    kind::Kind,
    placement::{Additions, Base, PlacementRecord, annotate, apply},
    platform::Platforms,
    request::{Payload, UnreadablePayload},
    response::Response,
    scope::{Scope, Workload},
    settings::Settings,
    text::{elide_end, one_line},
    unchanged::Unchanged,
};

/// The longest name of an object in the log: the longest that the API server takes.
const LONGEST_NAME: usize = 253;

/// The longest message of the log.
const LONGEST_MESSAGE: usize = 1_500;

/// Answers `validate`: `payload` is the JSON of `{"request": …, "settings": …}`, the answer that of the SDK's
/// `ValidationResponse`.
///
/// Whatever the payload, there is a response: what can't be read is a rejection.
pub fn validate(payload: &[u8], host: &mut dyn Host) -> Vec<u8> {
    let answer = Payload::parse(payload).and_then(|document| answer(document.root(), host));
    answer.unwrap_or_else(|error| Response::unreadable(&error).into_bytes())
}

fn answer(payload: Json<'_>, host: &mut dyn Host) -> Result<Vec<u8>, UnreadablePayload> {
    let Payload { request, settings } = Payload::read(payload)?;
    let settings = match Settings::read(settings) {
        Ok(settings) => settings,
        Err(invalid) => return Ok(Response::invalid_settings(&invalid).into_bytes()),
    };
    Ok(match Scope::of(&request, &settings)? {
        Scope::Out(reason) => Response::out_of_scope(reason).into_bytes(),
        Scope::In(workload) => evaluate(&workload, &settings, host)?,
    })
}

fn evaluate(
    workload: &Workload<'_>,
    settings: &Settings,
    host: &mut dyn Host,
) -> Result<Vec<u8>, Mismatch> {
    let kind = workload.kind;
    let record_of = |template| {
        let reads = settings.annotate && kind != Kind::Pod;
        reads
            .then(|| PlacementRecord::of(template, settings))
            .flatten()
    };
    let record = record_of(workload.template);
    let base = if settings.annotate && kind != Kind::Pod {
        Some(Base::of(workload.template, record.as_ref()))
    } else {
        None
    };
    let mut old_record = None;
    if let (Some(base), Some(old)) = (&base, workload.old_template) {
        old_record = record_of(old);
        // Where nothing is changed, what was placed may be gone.
        if settings.mutate && base.canonical == Base::of(old, old_record.as_ref()).canonical {
            return Ok(Response::restored(with_template(workload, old.into())).into_bytes());
        }
    }
    if !workload.is_open {
        return Ok(Response::out_of_scope(Unchanged::ImmutablePlacement).into_bytes());
    }
    let judge = Judge {
        workload,
        settings,
        strict: settings.strict_in(&workload.namespace),
        records: [record.as_ref(), old_record.as_ref()],
    };
    let mut lookups = Lookups::new(host, settings);
    // A rollback to a template that the policy has placed: it passes as it was, if what it admits still runs its images.
    if let (Some(base), Some(record)) = (&base, &record)
        && workload.old_template.is_some()
        && record.is_for(&base.canonical)
        && let Some(Judged { decision, .. }) = judge.decide(workload.template, &mut lookups)?
        && decision.holds()
    {
        return Ok(Response::rolled_back(&decision).into_bytes());
    }
    let document = base
        .as_ref()
        .and_then(|base| Document::parse(&base.text).ok());
    let template = document.as_ref().map_or(workload.template, Document::root);
    let Some(Judged {
        mut decision,
        platforms,
    }) = judge.decide(template, &mut lookups)?
    else {
        return Ok(Response::out_of_scope(Unchanged::NoPodSpec).into_bytes());
    };
    let changed = changed(
        workload,
        template,
        base.as_ref(),
        &mut decision,
        platforms,
        settings,
    );
    log(&decision, changed.is_some(), workload, host);
    Ok(Response::from_decision(&decision, changed).into_bytes())
}

/// The object after the decision; `None` where it is as it came.
fn changed<'a>(
    workload: &Workload<'a>,
    template: Json<'a>,
    base: Option<&Base>,
    decision: &mut Decision,
    platforms: Vec<(String, Platforms)>,
    settings: &Settings,
) -> Option<Draft<'a>> {
    if !settings.mutate || matches!(decision.outcome, Outcome::Rejected(_)) {
        return None;
    }
    let mut placed = Draft::from(template);
    let mut added = base.map(|_| Additions::default());
    apply(&mut placed, &decision.placement, added.as_mut())?;
    if !decision.placement.is_empty() && settings.annotate {
        match base.zip(added) {
            Some((base, added)) => {
                match PlacementRecord::new(&base.canonical, added, platforms).to_annotation() {
                    Some(record) => annotate(&mut placed, &record)?,
                    None => decision.warnings.push(Warning::RecordTooLong),
                }
            }
            None => annotate(&mut placed, &decision.outcome.to_string())?,
        }
    }
    // What was taken out may have been all, and what is put in may be what was there.
    let is_unchanged = if base.is_some() {
        placed.canonical() == workload.template.canonical()
    } else {
        decision.placement.is_empty()
    };
    if is_unchanged {
        None
    } else {
        with_template(workload, placed)
    }
}

/// The object with `template` as its Pod template.
fn with_template<'a>(workload: &Workload<'a>, template: Draft<'a>) -> Option<Draft<'a>> {
    let mut object = Draft::from(workload.object);
    let mut place = &mut object;
    for key in workload.kind.template_path() {
        place = place.as_object_mut()?.get_mut(key)?;
    }
    *place = template;
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
    let message = elide_end(message, LONGEST_MESSAGE);
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
