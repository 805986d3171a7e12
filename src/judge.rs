//! The decision on a Pod (template) as it is: from what it demands, and what its images run on by lookups, overrides and
//! records.

use node_architecture_json::{Field, Json, Mismatch};

use crate::{
    bucket::bucket,
    decision::{Candidates, Decision, admits_none, decide},
    image::{Image, ImageSupport, LookupFailure, Lookups, PodTraits, images_of},
    kind::Kind,
    placement::{ANNOTATION, PlacementRecord},
    platform::Platforms,
    pod::{NodeConstraints, PodContext, PodObject},
    scope::Workload,
    settings::{OnLookupFailure, Settings, Strict},
};

/// What decides on a Pod (template) of a workload.
#[derive(Debug)]
pub struct Judge<'j> {
    /// The workload.
    pub workload: &'j Workload<'j>,
    /// The settings.
    pub settings: &'j Settings,
    /// The strict rules, where they hold.
    pub strict: Option<&'j Strict>,
    /// The records that remember platforms, the nearest first.
    pub records: [Option<&'j PlacementRecord>; 2],
}

/// A decision, and what it rests on.
#[derive(Debug)]
pub struct Judged {
    /// The decision.
    pub decision: Decision,
    /// The platforms of the images that are known, for a record.
    pub platforms: Vec<(String, Platforms)>,
}

impl Judge<'_> {
    /// The decision on `template` as it is; `None` where it has no spec.
    ///
    /// # Errors
    /// [`Mismatch`] where a field has another type than the API gives it.
    pub fn decide(
        &self,
        template: Json<'_>,
        lookups: &mut Lookups<'_>,
    ) -> Result<Option<Judged>, Mismatch> {
        let Self {
            workload,
            settings,
            strict,
            ..
        } = *self;
        let root = Field::root(template, workload.kind.template());
        let Some(spec) = root.field("spec")? else {
            return Ok(None);
        };
        let object = PodObject {
            namespace: &workload.namespace,
            // Only preference rules ask for it.
            bucket: if settings.preference_rules.is_empty() {
                0
            } else {
                bucket(workload)
            },
            is_template: workload.kind != Kind::Pod,
            runs_everywhere: workload.kind == Kind::DaemonSet,
            is_suspended: workload.is_suspended,
        };
        let pod = PodContext::read(&root, &spec, settings, strict, object, ANNOTATION)?;
        let images = images_of(&spec, settings.image_volumes)?;
        let mut supports = Vec::new();
        if pod.needs_images() {
            let traits = PodTraits {
                has_runtime_class: pod.has_runtime_class,
                is_strict: strict.is_some(),
            };
            let mut so_far = Candidates::new(&pod);
            supports = lookups.read(&images, traits, &mut |image, support| {
                // What is partly read, or remembered, may run on more.
                if let ImageSupport::Platforms(_) | ImageSupport::Failed(_) = support
                    && self.remembered(image, support).is_none()
                {
                    so_far.add(image.reference.clone(), support.clone());
                }
                so_far.is_settled()
            });
        }
        let mut candidates = self.gather(&pod, &images, &supports, false);
        if admits_none(&pod, &candidates) {
            // It may be for what couldn't be read of an index.
            candidates = self.gather(&pod, &images, &supports, true);
        }
        let as_it_came = if settings.mutate {
            None
        } else {
            NodeConstraints::of_object(workload.template, workload.kind.template())?
        };
        let decision = decide(&pod, &candidates, images.len(), as_it_came.as_ref());
        Ok(Some(Judged {
            decision,
            platforms: candidates.platforms(),
        }))
    }

    /// The candidates by what is known of each image. `without_partly`: what is partly read counts as not read.
    fn gather<'s>(
        &self,
        pod: &PodContext<'s>,
        images: &[Image],
        supports: &[(usize, ImageSupport)],
        without_partly: bool,
    ) -> Candidates<'s> {
        let mut candidates = Candidates::new(pod);
        for (index, support) in supports {
            let Some(image) = images.get(*index) else {
                continue;
            };
            let reference = image.reference.clone();
            match self.remembered(image, support) {
                Some((platforms, failure)) => candidates.remember(reference, platforms, failure),
                None => match support {
                    ImageSupport::Partly(_, failure) if without_partly => {
                        candidates.add(reference, ImageSupport::Failed(failure.clone()));
                    }
                    other => candidates.add(reference, other.clone()),
                },
            }
        }
        candidates
    }

    /// What a record remembers of an image that can't be read now. Where whatever is unclear is rejected, it doesn't
    /// count.
    fn remembered(
        &self,
        image: &Image,
        support: &ImageSupport,
    ) -> Option<(Platforms, LookupFailure)> {
        let budget = self.settings.lookup_budget_milliseconds.0;
        let failure = match support {
            ImageSupport::Failed(failure) => failure.clone(),
            ImageSupport::Unfinished => LookupFailure::BudgetSpent(budget),
            _ => return None,
        };
        if self.strict.is_some() || self.settings.on_lookup_failure == OnLookupFailure::Reject {
            return None;
        }
        let mut records = self.records.iter().flatten();
        let platforms = records.find_map(|record| record.platforms_of(&image.reference))?;
        Some((platforms.clone(), failure))
    }
}
