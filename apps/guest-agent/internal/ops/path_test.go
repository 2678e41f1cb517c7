package ops

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	read, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(read)
}

func names(t *testing.T, directory string) []string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

func TestPathsThatCannotBeUsedAreErrors(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/file", "text")
	write(t, root+"/full/file", "text")
	if err := os.Symlink("file", root+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(root+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	for name, refusal := range map[string]struct {
		code    string
		request message
	}{
		"get relative":         {codePathInvalid, message{"op": "get", "kind": "file", "path": "file"}},
		"get NUL":              {codePathInvalid, message{"op": "get", "kind": "file", "path": "/a\x00"}},
		"get too long":         {codePathInvalid, message{"op": "get", "kind": "file", "path": "/" + strings.Repeat("a/", 3000)}},
		"get missing":          {codePathNotFound, message{"op": "get", "kind": "file", "path": root + "/none"}},
		"get missing tree":     {codePathNotFound, message{"op": "get", "kind": "tar", "path": root + "/none"}},
		"get a link":           {codePathIO, message{"op": "get", "kind": "file", "path": root + "/link"}},
		"get a pipe":           {codePathIO, message{"op": "get", "kind": "file", "path": root + "/pipe"}},
		"get a directory":      {codeIsADirectory, message{"op": "get", "kind": "file", "path": root}},
		"get below a file":     {codeNotADirectory, message{"op": "get", "kind": "file", "path": root + "/file/x"}},
		"get of no kind":       {codeRequestInvalid, message{"op": "get", "path": root}},
		"get bad pattern":      {codeRequestInvalid, message{"op": "get", "kind": "tar", "path": root, "exclude": []string{""}}},
		"put over a directory": {codeIsADirectory, message{"op": "put", "kind": "file", "dest": root}},
		"put below a file":     {codeNotADirectory, message{"op": "put", "kind": "file", "dest": root + "/file/x"}},
		"put bad mode":         {codeRequestInvalid, message{"op": "put", "kind": "file", "dest": root + "/x", "mode": "4755"}},
		"put unknown user":     {codeUserUnknown, message{"op": "put", "kind": "file", "dest": root + "/x", "user": "no-such-user"}},
		"put relative":         {codePathInvalid, message{"op": "put", "kind": "file", "dest": "x"}},
		"list a file":          {codeNotADirectory, message{"op": "list", "path": root + "/file"}},
		"list no entries":      {codeRequestInvalid, message{"op": "list", "path": root, "limit": 0}},
		"list too many":        {codeRequestInvalid, message{"op": "list", "path": root, "limit": maxListEntries + 1}},
		"stat missing":         {codePathNotFound, message{"op": "stat", "path": root + "/none"}},
		"remove missing":       {codePathNotFound, message{"op": "remove", "path": root + "/none", "recursive": true}},
		"remove full":          {codeNotEmpty, message{"op": "remove", "path": root + "/full"}},
		"remove the root":      {codePathInvalid, message{"op": "remove", "path": "/./", "recursive": true}},
		"tail missing":         {codePathNotFound, message{"op": "tail", "path": root + "/none"}},
		"tail a pipe":          {codePathIO, message{"op": "tail", "path": root + "/pipe"}},
		"tail before the file": {codeRequestInvalid, message{"op": "tail", "path": root + "/file", "fromOffset": -1}},
	} {
		t.Run(name, func(t *testing.T) {
			request(t, refusal.request).refused(refusal.code)
			if found := names(t, root); strings.Join(found, " ") != "file full link pipe" {
				t.Fatalf("the directory was changed: %v", found)
			}
		})
	}
}

func TestStatTellsOfALinkItself(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/file", "text")
	if err := os.Chmod(root+"/file", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", root+"/link"); err != nil {
		t.Fatal(err)
	}
	answer := request(t, message{"op": "stat", "path": root + "/file"}).answer("stat")
	if answer["kind"] != kindFile || answer["size"] != 4.0 || answer["mode"] != "0640" || answer["uid"] != float64(os.Geteuid()) {
		t.Fatalf("got %v", answer)
	}
	if answer := request(t, message{"op": "stat", "path": root + "/link"}).answer("stat"); answer["kind"] != kindLink {
		t.Fatalf("got %v", answer)
	}
}

func TestListIsSortedAndSaysWhenItIsNotAll(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"c", "a", "b"} {
		write(t, root+"/"+name, "text")
	}
	answer := request(t, message{"op": "list", "path": root}).answer("list")
	listed := ""
	for _, item := range answer["entries"].([]any) {
		listed += item.(map[string]any)["name"].(string)
	}
	if listed != "abc" || answer["truncated"] != false {
		t.Fatalf("got %v", answer)
	}
	answer = request(t, message{"op": "list", "path": root, "limit": 2}).answer("list")
	if len(answer["entries"].([]any)) != 2 || answer["truncated"] != true {
		t.Fatalf("got %v", answer)
	}
}

func TestAListOfLongNamesStaysWithinAFrame(t *testing.T) {
	root := t.TempDir()
	// Each byte of such a name takes six in JSON.
	suffix := strings.Repeat("\x01", 240)
	for number := 0; number < 1000; number++ {
		write(t, root+"/"+string([]byte{'a' + byte(number/100), '0' + byte(number/10%10), '0' + byte(number%10)})+suffix, "")
	}
	answer := request(t, message{"op": "list", "path": root}).answer("list")
	if count := len(answer["entries"].([]any)); count == 0 || count == 1000 || answer["truncated"] != true {
		t.Fatalf("got %d entries, truncated %v", count, answer["truncated"])
	}
}

func TestRemoveDeletesAFileAndATreeAndFollowsNoLink(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, root+"/tree/deep/file", "text")
	write(t, outside+"/victim", "text")
	if err := os.Symlink(outside, root+"/tree/link"); err != nil {
		t.Fatal(err)
	}
	request(t, message{"op": "remove", "path": root + "/tree/deep/file"}).answer("ok")
	request(t, message{"op": "remove", "path": root + "/tree", "recursive": true}).answer("ok")
	if found := names(t, root); len(found) != 0 || content(t, outside+"/victim") != "text" {
		t.Fatalf("left: %v", found)
	}
}
