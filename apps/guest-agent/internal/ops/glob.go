package ops

import (
	"regexp"
	"strings"
)

const (
	maxGlobs     = 1000
	maxGlobBytes = 1024
)

// globs are patterns of relative paths: * and ? stay within one component, ** goes over any number of them.
type globs []*regexp.Regexp

func compileGlobs(patterns []string) (globs, error) {
	if len(patterns) > maxGlobs {
		return nil, failf(codeRequestInvalid, "%d patterns are excluded; the limit is %d", len(patterns), maxGlobs)
	}
	compiled := make(globs, 0, len(patterns))
	for _, pattern := range patterns {
		if pattern == "" || len(pattern) > maxGlobBytes {
			return nil, failf(codeRequestInvalid, "a pattern must have 1 to %d bytes", maxGlobBytes)
		}
		expression, err := regexp.Compile(globExpression(strings.TrimSuffix(pattern, "/")))
		if err != nil {
			return nil, failf(codeRequestInvalid, "the pattern %.256q cannot be read", pattern)
		}
		compiled = append(compiled, expression)
	}
	return compiled, nil
}

func (g globs) match(path string) bool {
	for _, expression := range g {
		if expression.MatchString(path) {
			return true
		}
	}
	return false
}

// globExpression turns a pattern into an anchored regular expression, in which every other character stands for itself.
func globExpression(pattern string) string {
	var expression strings.Builder
	expression.WriteString(`(?s)\A`)
	for len(pattern) > 0 {
		switch {
		case strings.HasPrefix(pattern, "**/"):
			expression.WriteString(`(?:.*/)?`)
			pattern = pattern[3:]
		case strings.HasPrefix(pattern, "**"):
			expression.WriteString(`.*`)
			pattern = pattern[2:]
		case pattern[0] == '*':
			expression.WriteString(`[^/]*`)
			pattern = pattern[1:]
		case pattern[0] == '?':
			expression.WriteString(`[^/]`)
			pattern = pattern[1:]
		default:
			end := strings.IndexAny(pattern, "*?")
			if end < 0 {
				end = len(pattern)
			}
			expression.WriteString(regexp.QuoteMeta(pattern[:end]))
			pattern = pattern[end:]
		}
	}
	expression.WriteString(`\z`)
	return expression.String()
}
