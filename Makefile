# Everything that is done with this repository. `make help` lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO_HOME ?= $(HOME)/.cargo
TARGET := wasm32-wasip1
WASM := target/$(TARGET)/release/node_architecture_policy.wasm
SOURCES := Cargo.toml Cargo.lock json/Cargo.toml $(shell find src json/src -name '*.rs')

# No path of the machine that builds goes into the policy, and the linker writes addresses as short as they are.
WASM_RUSTFLAGS := --remap-path-prefix=$(CARGO_HOME)/registry/src/=dependencies/ \
  --remap-path-prefix=$(CURDIR)/= \
  -C link-arg=--compress-relocations -C link-arg=--strip-all
# The largest policy that is released, in bytes: 304 KiB.
WASM_LIMIT := 311296

BASELINE := target/$(TARGET)/baseline/node_architecture_baseline.wasm

HARNESS := target/debug/node-architecture
HARNESS_SOURCES := harness/Cargo.toml Cargo.lock $(shell find harness/src -name '*.rs')
EXAMPLE := examples/mixed-architectures

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9.-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9.-]+):.*## (.*)/\1\t\2/' | expand -t 24

policy.wasm: $(SOURCES) Makefile ## Build the policy
	rustup target list --installed | grep -qx $(TARGET) || rustup target add $(TARGET)
	+CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="$(WASM_RUSTFLAGS)" \
	  cargo build --release --locked --target $(TARGET) --package node-architecture-policy
	@size=$$(stat -c %s $(WASM)); \
	  if [ $$size -gt $(WASM_LIMIT) ]; then echo "policy.wasm has $$size bytes, more than $(WASM_LIMIT)"; exit 1; fi
	cp $(WASM) $@

annotated-policy.wasm: policy.wasm metadata.yml README.md ## Build the policy with its metadata, for publishing (needs kwctl)
	@command -v kwctl >/dev/null || { echo "annotated-policy.wasm needs kwctl: https://docs.kubewarden.io/reference/kwctl-cli"; exit 1; }
	kwctl annotate --metadata-path metadata.yml --usage-path README.md --output-path $@ policy.wasm

artifacthub-pkg.yml: metadata.yml questions-ui.yml ## Describe the policy for Artifact Hub (needs kwctl)
	kwctl scaffold artifacthub --metadata-path metadata.yml --questions-path questions-ui.yml --output $@

$(HARNESS): $(HARNESS_SOURCES) ## Build the command that runs the policy
	+cargo build --locked --package node-architecture-harness
	touch $@

.PHONY: run
run: ## Evaluate an example Pod on recorded registry answers
	@# Both build at once; `+` above has Cargo share the processors between them.
	@$(MAKE) --no-print-directory --jobs=$$(getconf _NPROCESSORS_ONLN) policy.wasm $(HARNESS)
	$(HARNESS) run --output text \
	  --request-path $(EXAMPLE)/pod.yaml \
	  --replay-host-capabilities-interactions $(EXAMPLE)/session.yml \
	  policy.wasm

.PHONY: test
test: policy.wasm ## Build the policy and run every test
	cargo test --locked --workspace --all-features

.PHONY: unit-test
unit-test: ## Run the tests of the core alone, in seconds
	cargo test --locked --lib --package node-architecture-policy --package node-architecture-json

$(BASELINE): Cargo.lock harness/baseline/src/lib.rs
	cargo build --profile baseline --locked --target $(TARGET) --package node-architecture-baseline
	touch $@

.PHONY: bench
bench: policy.wasm $(BASELINE) ## Measure what an evaluation costs, beside a policy that decides nothing
	cargo bench --locked --package node-architecture-harness --bench policy --bench report -- $(BENCH)

ifneq ($(shell command -v kwctl),)
E2E_RUNNER := kwctl
E2E_POLICY := annotated-policy.wasm
else
E2E_RUNNER := $(HARNESS)
E2E_POLICY := policy.wasm
endif

.PHONY: e2e-tests
e2e-tests: $(E2E_POLICY) $(HARNESS) ## Run e2e.bats with kwctl, or where it isn't installed with our own command (needs bats and jq)
	RUNNER=$(E2E_RUNNER) POLICY=$(E2E_POLICY) bats e2e.bats

.PHONY: lint
lint: ## Check format and lints
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings

.PHONY: deny
deny: ## Check licences and sources of dependencies (needs cargo-deny)
	cargo deny --locked --workspace check licenses bans sources

.PHONY: fmt
fmt: ## Format the sources
	cargo fmt --all

.PHONY: settings
settings: ## Write what is published about the settings anew: schema, page and form
	cargo run --quiet --features schema --example settings

.PHONY: clean
clean: ## Remove whatever was built
	cargo clean
	rm -f policy.wasm annotated-policy.wasm
