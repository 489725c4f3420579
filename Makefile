# The two commands: `make demo` and `make test`. Each does its own set-up and
# may be run again and again. YES=1 asks nothing.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export CARGO_TERM_PROGRESS_WHEN ?= auto

# The daemon, the demo and container tests need root; what cargo builds stays
# the user's own.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo -E env "PATH=$$PATH")
RUNNER := $(if $(SUDO),--config "target.'cfg(unix)'.runner = 'sudo -E'")
TEST_FLAGS ?=

.PHONY: help setup build init images demo test bench lint
help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: ## install what is missing, start an engine where none answers
	@.ci/setup test

# A global flag would break proc-macros, and a later plain build overwrites
# the static binary with a dynamic one: target/init/ is the only place from
# which daemon, tests and package take it.
init: ## build PID 1 of the sandboxes, static, into target/init/
	@cargo rustc --locked --bin ovnode-init -- -C target-feature=+crt-static
	@install -D -m 0755 target/debug/ovnode-init target/init/ovnode-init

build: init ## build the daemon
	@cargo build --locked --bin ovnode

images: ## build the images of the classes that are not there yet
	@$(SUDO) workers/build

demo: ## run one job of every class, printing what passes over the wire
	@.ci/setup demo
	@$(MAKE) --no-print-directory build images
	@$(SUDO) target/debug/ovnode demo

test: ## run every test over a real engine and a real NATS server
	@.ci/setup test
	@$(MAKE) --no-print-directory init images
	@tests/python/venv
	cargo test --locked $(RUNNER) $(TEST_FLAGS)

bench: ## print the benches' numbers
	@.ci/setup test
	@$(MAKE) --no-print-directory init images
	cargo bench --locked $(RUNNER)

lint: ## formatting, lints, documentation
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet
