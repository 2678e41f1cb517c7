module inquest.dev/guest-agent

go 1.19

require (
	github.com/hashicorp/yamux v0.0.0
	golang.org/x/sys v0.0.0
)

// Both come from the distribution's -dev packages, so that a build needs no module proxy and no network.
replace (
	github.com/hashicorp/yamux => /usr/share/gocode/src/github.com/hashicorp/yamux
	golang.org/x/sys => /usr/share/gocode/src/golang.org/x/sys
)
