#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# What a user sees, through `kwctl run` or a command with the same flags:
#   RUNNER   the command, such as kwctl
#   POLICY   the wasm

setup() {
  RUNNER="${RUNNER:-kwctl}"
  POLICY="${POLICY:-annotated-policy.wasm}"
  FIXTURES=tests/fixtures
  EMPTY_SESSION="$BATS_TEST_TMPDIR/empty.yml"
  echo '[]' >"$EMPTY_SESSION"
}

# Evaluates the request of a fixture on its recorded session, with its settings unless others are given.
#   evaluate FIXTURE [FLAGS OF RUNNER]
evaluate() {
  local folder="$FIXTURES/$1"
  shift
  local settings=(--settings-path "$folder/settings.yml")
  case " $* " in *" --settings-"*) settings=() ;; esac
  run --separate-stderr "$RUNNER" run "$POLICY" \
    --request-path "$folder/request.json" "${settings[@]}" \
    --replay-host-capabilities-interactions "${SESSION:-$folder/session.yml}" \
    "$@"
  # A session that does not fit proves nothing, whatever the verdict.
  if grep -E 'not been replayed|Replay error|recorded responses is empty' <<<"$stderr"; then
    return 1
  fi
  response=$(tail -n 1 <<<"$output")
  patch=$(jq --raw-output '.patch // empty' <<<"$response" 2>/dev/null | base64 --decode)
}

# The response is JSON for which a jq expression holds.
responds() {
  [ "$status" -eq 0 ]
  jq --exit-status "$1" <<<"$response" || { echo "$response"; return 1; }
}

# The patch has a value at a path: patches PATH VALUE
patches() {
  [ "$status" -eq 0 ]
  jq --exit-status --arg path "$1" --argjson value "$2" \
    'any(.[]; .path == $path and .value == $value)' <<<"$patch" || { echo "$patch"; return 1; }
}

# The object passes and nothing changes.
unchanged() {
  responds '.allowed and (has("patch") | not)'
}

# The object is rejected with this code, and a message that begins with this cause and has this text.
#   rejected CODE CAUSE TEXT
rejected() {
  responds "(.allowed | not) and .status.code == $1 and (.status.message | startswith(\"$2: \") and contains(\"$3\"))"
}

# A warning starts with this text.
warns() {
  responds "any(.warnings[]; startswith(\"$1\"))"
}

# The settings are refused, with this text.
refused() {
  [ "$status" -ne 0 ]
  grep --fixed-strings "$1" <<<"$output$stderr"
}

arm64_only='{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/arch","operator":"In","values":["arm64"]}]}]}}}'
both='{"key":"kubernetes.io/arch","operator":"In","values":["amd64","arm64"]}'
terms=/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms

@test "multi-arch images are pinned to the preferred architecture" {
  evaluate multi-arch-images-are-pinned-to-the-preferred-architecture
  patches /spec/nodeSelector '{"kubernetes.io/arch":"amd64"}'
  responds '.auditAnnotations.placement == "nodeSelector=amd64" and .auditAnnotations.architectures == "amd64,arm64"'
}

@test "a single-arch sidecar decides for the whole Pod" {
  evaluate a-multi-arch-app-with-a-single-arch-sidecar-follows-the-sidecar
  patches /spec/affinity "$arm64_only"
}

@test "a single manifest for arm64 lands on arm64" {
  evaluate a-single-manifest-for-arm64-lands-on-arm64
  patches /spec/affinity "$arm64_only"
}

@test "a BuildKit attestation is no platform" {
  evaluate a-buildkit-attestation-is-no-platform
  patches /spec/affinity "$arm64_only"
}

@test "two ORed terms both get the requirement" {
  evaluate two-ored-terms-both-get-the-requirement
  patches "$terms/0/matchExpressions/1" "$both"
  patches "$terms/1/matchExpressions/1" "$both"
}

@test "an empty term stays empty" {
  evaluate an-empty-term-stays-empty
  patches "$terms/1/matchExpressions/1" "$both"
  jq --exit-status "all(.[]; .path | startswith(\"$terms/0\") | not)" <<<"$patch"
}

@test "NotIn amd64 with preference amd64 gives arm64" {
  evaluate not-in-amd64-with-preference-amd64-gives-arm64
  patches "$terms/0/matchExpressions/1" '{"key":"kubernetes.io/arch","operator":"In","values":["arm64"]}'
}

@test "fields that no API knows survive" {
  evaluate fields-that-no-api-knows-survive
  jq --exit-status 'length == 2 and all(.[]; .op == "add")' <<<"$patch"
}

@test "a Pod that selects its architecture keeps it" {
  evaluate a-pod-that-selects-its-architecture-keeps-it
  unchanged
}

@test "an unsupported selection is warned of" {
  evaluate an-unsupported-selection-is-warned-of
  unchanged
  warns "the Pod selects amd64, which excludes every architecture that its images support"
}

@test "an unsupported selection can be rejected" {
  evaluate an-unsupported-selection-can-be-rejected
  rejected 400 UnsupportedSelection "ghcr.io/acme/agent:0.9 (linux/arm64)"
}

@test "images with nothing in common are rejected by name and platform" {
  evaluate images-with-nothing-in-common-are-rejected
  rejected 403 NoCommonArchitecture "ghcr.io/acme/web:1.4 (linux/amd64), ghcr.io/acme/agent:0.9 (linux/arm64)"
}

@test "images with nothing in common can be warned of" {
  evaluate images-with-nothing-in-common-can-be-warned-of
  unchanged
  warns "no architecture runs every image on linux"
}

@test "a failed lookup has no say by default" {
  evaluate a-failed-lookup-has-no-say-by-default
  patches /spec/nodeSelector '{"kubernetes.io/arch":"amd64"}'
  warns "image private.io/a:1 ignored: not authorized"
}

@test "a long host error is one short warning" {
  evaluate a-long-host-error-is-one-short-warning
  responds '.warnings == ["image ghcr.io/acme/web:1.4 ignored: manifest unknown"]'
}

@test "a failed lookup can fall back" {
  evaluate a-failed-lookup-can-fall-back
  patches /spec/affinity "$arm64_only"
}

@test "failed lookups can be rejected" {
  evaluate failed-lookups-can-be-rejected
  rejected 424 UnreadableImages "private.io/a:1 (not authorized), private.io/b:1 (manifest unknown)"
}

@test "a denied capability is a failed lookup" {
  SESSION="$EMPTY_SESSION"
  evaluate multi-arch-images-are-pinned-to-the-preferred-architecture --allowed-host-capabilities 'net/*'
  unchanged
  warns "image ghcr.io/acme/web:1.4 ignored: policy has not been granted access to the 'oci/v1/oci_manifest' host capability"
}

@test "the label of a Pod overrides the preference" {
  evaluate the-label-of-a-pod-overrides-the-preference
  patches /spec/nodeSelector '{"kubernetes.io/arch":"arm64"}'
}

@test "a soft preference allows every architecture" {
  evaluate a-soft-preference-allows-every-architecture
  jq --exit-status '.[] | select(.path == "/spec/affinity") | .value.nodeAffinity
    | .preferredDuringSchedulingIgnoredDuringExecution[0].weight == 100
      and .requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values == ["amd64", "arm64"]' <<<"$patch"
}

@test "tolerations come with the architecture" {
  evaluate tolerations-come-with-the-architecture
  patches /spec/tolerations '[{"key":"kubernetes.io/arch","operator":"Equal","value":"arm64","effect":"NoSchedule"}]'
}

@test "a Windows image in a mixed cluster lands on Windows" {
  evaluate a-windows-image-in-a-mixed-cluster-lands-on-windows
  patches /spec/nodeSelector '{"kubernetes.io/arch":"amd64","kubernetes.io/os":"windows"}'
}

@test "node labels to match become selectors" {
  evaluate node-labels-to-match-become-selectors
  patches /spec/nodeSelector/topology.kubernetes.io~1zone '"eu-1"'
}

@test "a proxy takes the lookups and leaves the image" {
  evaluate a-proxy-takes-the-lookups-and-leaves-the-image
  jq --exit-status 'all(.[]; .path | contains("containers") | not)' <<<"$patch"
}

@test "an override answers without a lookup" {
  evaluate an-override-answers-without-a-lookup
  patches /spec/affinity "$arm64_only"
}

@test "a strict namespace rejects what is not ready" {
  evaluate a-strict-namespace-rejects-an-image-that-is-not-ready
  rejected 403 MissingArchitectures "a.io/b:1 (linux/amd64) doesn't support arm64 on linux"
}

@test "a DaemonSet is never pinned" {
  evaluate a-daemon-set-is-never-pinned
  jq --exit-status 'all(.[]; .path | contains("nodeSelector/") | not)' <<<"$patch"
  responds '.auditAnnotations.placement == "nodeAffinity=amd64,arm64"'
}

@test "a CronJob is placed in its Pod template" {
  evaluate a-cron-job-is-placed
  patches /spec/jobTemplate/spec/template/spec/nodeSelector '{"kubernetes.io/arch":"amd64"}'
}

@test "a new image of a Deployment is placed afresh" {
  evaluate a-new-image-of-a-deployment-is-placed-afresh
  patches /spec/template/spec/affinity "$arm64_only"
  jq --exit-status 'any(.[]; .op == "remove" and .path == "/spec/template/spec/nodeSelector")' <<<"$patch"
}

@test "a scale of a Deployment changes nothing" {
  evaluate a-scale-of-a-deployment-changes-nothing
  unchanged
}

@test "a Pod on its node is left alone" {
  evaluate a-pod-on-its-node-is-left-alone
  unchanged
  responds '.auditAnnotations.placement == "unchanged: spec.nodeName is set"'
}

@test "a preference rule takes its namespaces" {
  evaluate a-preference-rule-takes-its-namespaces
  patches /spec/nodeSelector '{"kubernetes.io/arch":"arm64"}'
}

@test "a share takes a Pod as the Deployment behind it" {
  evaluate a-share-takes-a-pod-as-the-deployment-behind-it
  patches /spec/nodeSelector '{"kubernetes.io/arch":"arm64"}'
  evaluate a-share-takes-a-pod-as-the-deployment-behind-it \
    --settings-json '{"preferenceRules": [{"preferredArchitecture": "arm64", "share": 47}]}'
  patches /spec/nodeSelector '{"kubernetes.io/arch":"amd64"}'
}

@test "an object that is not to be changed says that it is unplaced" {
  evaluate an-object-that-is-not-to-be-changed-says-that-it-is-unplaced
  unchanged
  responds '.auditAnnotations.placement == "not applied: nodeSelector=amd64" and .auditAnnotations.cause == "UnplacedPod"'
}

@test "a gate refuses an unplaced Pod and lets a placed one pass" {
  evaluate a-gate-refuses-an-unplaced-pod
  rejected 403 UnplacedPod "ghcr.io/acme/web:1.4 (linux/amd64, linux/arm64)"
  evaluate a-gate-lets-a-placed-pod-pass
  unchanged
}

@test "a Rollout is placed where the settings add it" {
  evaluate a-rollout-is-placed-where-the-settings-add-it
  patches /spec/template/spec/nodeSelector '{"kubernetes.io/arch":"amd64"}'
}

@test "invalid settings are refused, every error at once" {
  SESSION="$EMPTY_SESSION"
  evaluate multi-arch-images-are-pinned-to-the-preferred-architecture \
    --settings-json '{"annotate": 1, "preferedArchitecture": "arm64", "operatingSystems": []}'
  refused 'operatingSystems: [] is empty, name at least one, such as linux'
  refused 'annotate: 1 is a number, use true or false'
  refused 'preferedArchitecture: unknown setting with value "arm64", did you mean preferredArchitecture?'
}

@test "weights need a soft preference" {
  SESSION="$EMPTY_SESSION"
  evaluate multi-arch-images-are-pinned-to-the-preferred-architecture \
    --settings-json '{"architectureWeights": {"arm64": 50}}'
  refused 'architectureWeights: weights need preferenceEnforcement: preferred'
}

@test "a rule that takes no workload is refused" {
  SESSION="$EMPTY_SESSION"
  evaluate multi-arch-images-are-pinned-to-the-preferred-architecture \
    --settings-json '{"preferenceRules": [{"preferredArchitecture": "arm64"}, {"namespaces": ["a"], "preferredArchitecture": null}]}'
  refused 'preferenceRules[1]: takes no workload, as preferenceRules[0] takes all that it matches'
}

@test "settings may be empty" {
  evaluate multi-arch-images-are-pinned-to-the-preferred-architecture --settings-json '{}'
  patches /spec/nodeSelector '{"kubernetes.io/arch":"amd64"}'
}
