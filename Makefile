.PHONY: build test race lint bench ci

build: ## the tooleval binary in bin/
	go build -o bin/tooleval ./cmd/tooleval

test: ## all tests, offline, without any key
	go test ./...

race: ## all tests with the race detector
	go test -race ./...

lint: ## vet and the linters of .golangci.yml
	go vet ./...
	golangci-lint run

bench: ## the figures of docs/performance.md
	go test -run '^$$' -bench . -benchmem ./...

ci: ## what a change has to pass
	bash .ci/run
