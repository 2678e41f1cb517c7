package ops

import (
	"errors"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that a command runs as, or that owns the files of a put.
type account struct {
	name       string
	home       string
	credential syscall.Credential
}

// rootAccount is used when no user is named, also where there is no passwd file.
func rootAccount() *account { return &account{name: "root", home: "/root"} }

// lookupAccount finds a user of the guest by name, with all its groups. The empty name is root.
func lookupAccount(name string) (*account, error) {
	if name == "" {
		return rootAccount(), nil
	}
	entry, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return nil, failf(codeUserUnknown, "the guest has no user %q", name)
	}
	if err != nil {
		return nil, failf(codeUserUnknown, "look up the user %q: %v", name, err)
	}
	groups, err := entry.GroupIds()
	if err != nil {
		return nil, failf(codeUserUnknown, "look up the groups of %q: %v", name, err)
	}
	found := &account{name: entry.Username, home: entry.HomeDir}
	if found.credential.Uid, err = parseID(entry.Uid); err != nil {
		return nil, failf(codeUserUnknown, "the user %q has the bad id %q", name, entry.Uid)
	}
	if found.credential.Gid, err = parseID(entry.Gid); err != nil {
		return nil, failf(codeUserUnknown, "the user %q has the bad group id %q", name, entry.Gid)
	}
	for _, group := range groups {
		id, err := parseID(group)
		if err != nil {
			return nil, failf(codeUserUnknown, "the user %q is in the group of bad id %q", name, group)
		}
		found.credential.Groups = append(found.credential.Groups, id)
	}
	return found, nil
}

func parseID(text string) (uint32, error) {
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err
}

func (a *account) uid() int { return int(a.credential.Uid) }

func (a *account) gid() int { return int(a.credential.Gid) }
