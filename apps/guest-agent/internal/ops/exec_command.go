package ops

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"inquest.dev/guest-agent/internal/process"
)

// defaultTerm is what terminals of people understand today, and what images have a description of.
const defaultTerm = "xterm-256color"

var termName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

const (
	shellPath   = "/bin/sh"
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

type execRequest struct {
	Argv      []string          `json:"argv"`
	Shell     *string           `json:"shell"`
	Cwd       string            `json:"cwd"`
	Env       map[string]string `json:"env"`
	User      string            `json:"user"`
	TimeoutMs int64             `json:"timeoutMs"`
	Stdin     bool              `json:"stdin"`
	Detach    bool              `json:"detach"`
	Pty       *ptyRequest       `json:"pty"`
}

type ptyRequest struct {
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Term string `json:"term"`
}

// command is a request that was found to be runnable, as far as that can be known before it runs.
type command struct {
	path    string
	argv    []string
	env     []string
	dir     string
	account *account
	// timeout is 0 for none.
	timeout time.Duration
	stdin   bool
	detach  bool
	// terminal is the size of the one that the command gets, or nil.
	terminal *process.TerminalSize
}

// prepare checks a request and resolves its user, directory and program. defaults are variables that the request may
// replace. Nothing has been run when it fails.
func (r *execRequest) prepare(defaults map[string]string) (*command, error) {
	argv, err := r.arguments()
	if err != nil {
		return nil, err
	}
	if r.TimeoutMs < 0 {
		return nil, failf(codeRequestInvalid, "timeoutMs must not be negative")
	}
	terminal, err := r.terminal()
	if err != nil {
		return nil, err
	}
	account, err := lookupAccount(r.User)
	if err != nil {
		return nil, err
	}
	env, err := r.environment(account, defaults)
	if err != nil {
		return nil, err
	}
	dir, err := r.directory(account)
	if err != nil {
		return nil, err
	}
	path, err := resolveProgram(argv[0], dir, env["PATH"])
	if err != nil {
		return nil, err
	}
	return &command{
		path:     path,
		argv:     argv,
		env:      flatten(env),
		dir:      dir,
		account:  account,
		timeout:  time.Duration(r.TimeoutMs) * time.Millisecond,
		stdin:    r.Stdin,
		detach:   r.Detach,
		terminal: terminal,
	}, nil
}

// terminal is the size of the terminal that is asked for, or nil.
func (r *execRequest) terminal() (*process.TerminalSize, error) {
	if r.Pty == nil {
		return nil, nil
	}
	if r.Pty.Term != "" && !termName.MatchString(r.Pty.Term) {
		return nil, failf(codeRequestInvalid, "the terminal type %.64q is no name of one", r.Pty.Term)
	}
	size, err := terminalSize(r.Pty.Cols, r.Pty.Rows)
	if err != nil {
		return nil, err
	}
	return &size, nil
}

func (r *execRequest) arguments() ([]string, error) {
	if (r.Shell != nil) == (r.Argv != nil) {
		return nil, failf(codeArgumentInvalid, "exactly one of argv and shell must be given")
	}
	argv := r.Argv
	if r.Shell != nil {
		argv = []string{shellPath, "-c", *r.Shell}
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, failf(codeArgumentInvalid, "argv must name a program")
	}
	for index, argument := range argv {
		if strings.IndexByte(argument, 0) >= 0 {
			return nil, failf(codeArgumentInvalid, "the argument %d contains a NUL byte", index)
		}
	}
	return argv, nil
}

// environment is the agent's defaults, and those given, under the request's own entries. Messages name an entry, never its value, which
// may be a credential.
func (r *execRequest) environment(account *account, defaults map[string]string) (map[string]string, error) {
	env := map[string]string{
		"PATH": defaultPath,
		"HOME": account.home,
		"USER": account.name,
		"LANG": "C.UTF-8",
	}
	if r.Pty == nil {
		// Nobody is there to press a key.
		env["PAGER"], env["GIT_PAGER"], env["TERM"] = "cat", "cat", "dumb"
	} else if env["TERM"] = r.Pty.Term; r.Pty.Term == "" {
		env["TERM"] = defaultTerm
	}
	for name, value := range defaults {
		env[name] = value
	}
	for name, value := range r.Env {
		switch {
		case name == "":
			return nil, failf(codeEnvInvalid, "a variable has an empty name")
		case strings.ContainsAny(name, "=\x00"):
			return nil, failf(codeEnvInvalid, "the name %.64q contains = or NUL", name)
		case strings.IndexByte(value, 0) >= 0:
			return nil, failf(codeEnvInvalid, "the value of %.64q contains NUL", name)
		}
		env[name] = value
	}
	return env, nil
}

func flatten(env map[string]string) []string {
	entries := make([]string, 0, len(env))
	for name, value := range env {
		entries = append(entries, name+"="+value)
	}
	sort.Strings(entries)
	return entries
}

// directory is the one asked for, else the home of the user where that exists, else the root.
func (r *execRequest) directory(account *account) (string, error) {
	if r.Cwd == "" {
		if isDirectory(account.home) {
			return account.home, nil
		}
		return "/", nil
	}
	if err := checkPath(r.Cwd); err != nil {
		return "", err
	}
	if !isDirectory(r.Cwd) {
		return "", failf(codeCwdMissing, "the working directory %s does not exist or is no directory", r.Cwd)
	}
	return r.Cwd, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// resolveProgram finds a program as a shell does: a name with a slash is a path from dir, any other is looked for in
// the directories of searchPath.
func resolveProgram(name, dir, searchPath string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, checkProgram(path)
	}
	var denied error
	for _, directory := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(directory) {
			directory = filepath.Join(dir, directory)
		}
		path := filepath.Join(directory, name)
		err := checkProgram(path)
		if err == nil {
			return path, nil
		}
		if failed, ok := err.(*failure); ok && failed.Code == codeExecPermission && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", failf(codeExecNotFound, "the program %.256q is not in PATH", name)
}

func checkProgram(path string) error {
	const anyExecuteBit = 0o111
	info, err := os.Stat(path)
	switch {
	case err != nil && pathCode(err) == codePathPermission:
		return failf(codeExecPermission, "%s: %s", path, systemText(err))
	case err != nil:
		return failf(codeExecNotFound, "%s: %s", path, systemText(err))
	case !info.Mode().IsRegular():
		return failf(codeExecPermission, "%s is no regular file", path)
	case info.Mode().Perm()&anyExecuteBit == 0:
		return failf(codeExecPermission, "%s is not executable", path)
	default:
		return nil
	}
}
