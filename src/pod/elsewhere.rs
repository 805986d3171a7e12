//! What else may decide where a Pod lands: a pin to an architecture beside it could leave the Pod without a node.
//!
//! Design, section 7.

use node_architecture_json::Json;

/// Whether the Pod with this `spec` asks for something that not every node has, or that another part of the cluster
/// assigns: required Pod affinity, an extended resource, a resource claim, a scheduling gate.
pub(super) fn is_placed(spec: Json<'_>) -> bool {
    let [affinity, init_containers, containers, claims, gates] = spec.pick([
        "affinity",
        "initContainers",
        "containers",
        "resourceClaims",
        "schedulingGates",
    ]);
    let is_filled = |list: Option<Json<'_>>| list.is_some_and(|list| !list.is_empty());
    let pods = affinity
        .and_then(|affinity| affinity.get("podAffinity"))
        .and_then(|pods| pods.get("requiredDuringSchedulingIgnoredDuringExecution"));
    is_filled(pods)
        || is_filled(claims)
        || is_filled(gates)
        || [init_containers, containers]
            .into_iter()
            .flatten()
            .flat_map(Json::elements)
            .any(requests_an_extended_resource)
}

/// Whether the container requests a resource that only some nodes have.
///
/// <https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources>
fn requests_an_extended_resource(container: Json<'_>) -> bool {
    let Some(resources) = container.get("resources") else {
        return false;
    };
    let lists = resources.pick(["requests", "limits"]);
    let mut names = lists.into_iter().flatten().flat_map(Json::members);
    names.any(|(name, _)| name.contains('/') && !name.starts_with("kubernetes.io/"))
}
