package ops

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"inquest.dev/guest-agent/internal/frames"
)

type entry struct {
	name    string
	kind    byte
	link    string
	content string
	mode    int64
}

func packTar(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for _, entry := range entries {
		header := &tar.Header{
			Name:     entry.name,
			Typeflag: entry.kind,
			Linkname: entry.link,
			Size:     int64(len(entry.content)),
			Mode:     entry.mode,
			ModTime:  time.Unix(1_000_000_000, 0),
			Uid:      4242,
			Gid:      4242,
		}
		if header.Mode == 0 {
			header.Mode = 0o644
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, entry.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func putTar(t *testing.T, dest string, entries ...entry) *host {
	t.Helper()
	client := request(t, message{"op": "put", "dest": dest, "kind": "tar"})
	client.data(packTar(t, entries...))
	return client
}

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

func TestPutStoresAFileWithItsModeAndItsMissingParents(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "a", "b", "file")
	client := request(t, message{"op": "put", "dest": dest, "kind": "file", "mode": "0750"})
	client.data(bytes.Repeat([]byte("x"), 1<<20))
	if answer := client.answer("ok"); answer["entries"] != 1.0 || answer["bytes"] != float64(1<<20) {
		t.Fatalf("got %v", answer)
	}
	info, err := os.Stat(dest)
	if err != nil || info.Size() != 1<<20 || info.Mode() != 0o750 {
		t.Fatalf("got %v (%v)", info, err)
	}
}

func TestPutReplacesASymbolicLinkAndNotWhatItPointsTo(t *testing.T) {
	directory := t.TempDir()
	write(t, directory+"/target", "old")
	if err := os.Symlink("target", directory+"/link"); err != nil {
		t.Fatal(err)
	}
	client := request(t, message{"op": "put", "dest": directory + "/link", "kind": "file"})
	client.data([]byte("new"))
	client.answer("ok")
	if content(t, directory+"/target") != "old" || content(t, directory+"/link") != "new" {
		t.Fatal("the file behind the link was written")
	}
}

func TestAPutThatIsCutOffLeavesNothing(t *testing.T) {
	directory := t.TempDir()
	write(t, directory+"/file", "old")
	client := request(t, message{"op": "put", "dest": directory + "/file", "kind": "file"})
	if err := client.out.WriteData(frames.KindDataToGuest, []byte("half")); err != nil {
		t.Fatal(err)
	}
	client.close()
	client.awaitServed()
	if found := names(t, directory); len(found) != 1 || content(t, directory+"/file") != "old" {
		t.Fatalf("got %v", found)
	}
}

func TestPutUnpacksATar(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "dest")
	client := putTar(t, dest,
		entry{name: "./", kind: tar.TypeDir, mode: 0o700},
		entry{name: "bin/", kind: tar.TypeDir, mode: 0o750},
		entry{name: "bin/tool", kind: tar.TypeReg, content: "#!/bin/sh\n", mode: 0o4755},
		entry{name: "deep/er/file", kind: tar.TypeReg, content: "text"},
		entry{name: "link", kind: tar.TypeSymlink, link: "bin/tool"},
		entry{name: "hard", kind: tar.TypeLink, link: "deep/er/file"},
	)
	if answer := client.answer("ok"); answer["entries"] != 6.0 || answer["bytes"] != 14.0 {
		t.Fatalf("got %v", answer)
	}
	info, err := os.Stat(dest + "/bin/tool")
	if err != nil || info.Mode() != 0o755 || !info.ModTime().Equal(time.Unix(1_000_000_000, 0)) {
		t.Fatalf("got %v (%v); setuid must not survive", info, err)
	}
	if target, err := os.Readlink(dest + "/link"); err != nil || target != "bin/tool" {
		t.Fatalf("got %q (%v)", target, err)
	}
	if content(t, dest+"/hard") != "text" {
		t.Fatal("the hard link has other content")
	}
	if system := info.Sys().(*syscall.Stat_t); int(system.Uid) != os.Geteuid() {
		t.Fatalf("the owner is %d, as the archive says", system.Uid)
	}
}

func TestTarEntriesThatWouldLeaveTheDestinationAreRefusedByName(t *testing.T) {
	for name, refused := range map[string][]entry{
		"absolute":            {{name: "/etc/evil", kind: tar.TypeReg, content: "x"}},
		"dot dot":             {{name: "a/../../evil", kind: tar.TypeReg, content: "x"}},
		"the destination":     {{name: ".", kind: tar.TypeSymlink, link: "/evil"}},
		"a device":            {{name: "evil", kind: tar.TypeChar}},
		"a pipe":              {{name: "evil", kind: tar.TypeFifo}},
		"a link to outside":   {{name: "evil", kind: tar.TypeLink, link: "../outside"}},
		"an absolute link":    {{name: "evil", kind: tar.TypeLink, link: "/outside"}},
		"through its own":     {{name: "up", kind: tar.TypeSymlink, link: ".."}, {name: "up/evil", kind: tar.TypeReg, content: "x"}},
		"through an old one":  {{name: "old/evil", kind: tar.TypeReg, content: "x"}},
		"deeper through it":   {{name: "old/evil/deep/er", kind: tar.TypeReg, content: "x"}},
		"as a directory":      {{name: "old/", kind: tar.TypeDir, mode: 0o777}},
		"a link's own parent": {{name: "evil", kind: tar.TypeLink, link: "old/victim"}},
		"directory by link":   {{name: "up", kind: tar.TypeSymlink, link: ".."}, {name: "up/evil/", kind: tar.TypeDir}},
	} {
		t.Run(name, func(t *testing.T) {
			outside := t.TempDir()
			write(t, outside+"/victim", "untouched")
			dest := filepath.Join(outside, "dest")
			if err := os.Mkdir(dest, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("..", dest+"/old"); err != nil {
				t.Fatal(err)
			}
			entries := append([]entry{{name: "before", kind: tar.TypeReg, content: "stays"}}, refused...)
			text := putTar(t, dest, append(entries, entry{name: "after", kind: tar.TypeReg})...).refused(codeTarRefused)
			if last := refused[len(refused)-1].name; !strings.Contains(text, last) {
				t.Fatalf("the message does not name %q: %s", last, text)
			}
			if found := names(t, outside); len(found) != 2 || content(t, outside+"/victim") != "untouched" {
				t.Fatalf("something was written outside: %v", found)
			}
			if info, err := os.Stat(outside); err != nil || info.Mode().Perm() == 0o777 {
				t.Fatalf("the mode of the directory outside was changed: %v", info.Mode())
			}
			if content(t, dest+"/before") != "stays" {
				t.Fatal("the entry before is gone")
			}
			if _, err := os.Lstat(dest + "/after"); err == nil {
				t.Fatal("the entry after the refused one was stored")
			}
		})
	}
}

func TestATarEntryReplacesASymbolicLinkAndNotItsTarget(t *testing.T) {
	dest := t.TempDir()
	write(t, dest+"/target", "old")
	if err := os.Symlink("target", dest+"/file"); err != nil {
		t.Fatal(err)
	}
	putTar(t, dest, entry{name: "file", kind: tar.TypeReg, content: "new"}).answer("ok")
	if content(t, dest+"/target") != "old" || content(t, dest+"/file") != "new" {
		t.Fatal("the file behind the link was written")
	}
}

func TestDataThatIsNoTarOrOnlyHalfOfOneIsAnError(t *testing.T) {
	whole := packTar(t, entry{name: "file", kind: tar.TypeReg, content: strings.Repeat("x", 5000)})
	for _, data := range [][]byte{bytes.Repeat([]byte("no tar "), 1000), whole[:2000]} {
		client := request(t, message{"op": "put", "dest": t.TempDir(), "kind": "tar"})
		client.data(data)
		client.refused(codeTarInvalid)
	}
}

// fetch reads the data of a get and checks its end.
func fetch(t *testing.T, properties message) []byte {
	t.Helper()
	properties["op"] = "get"
	client := request(t, properties)
	client.answer("ok")
	data := []byte{}
	for {
		frame := client.frame()
		if frame.Kind == frames.KindEnd {
			break
		}
		if frame.Kind != frames.KindDataFromGuest {
			t.Fatalf("a frame of kind 0x%02x: %s", byte(frame.Kind), frame.Payload)
		}
		data = append(data, frame.Payload...)
	}
	digest := sha256.Sum256(data)
	if end := client.answer("end"); end["bytes"] != float64(len(data)) || end["sha256"] != hex.EncodeToString(digest[:]) {
		t.Fatalf("got %v for %d bytes", end, len(data))
	}
	return data
}

func TestGetSendsAFileWithItsDigest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, strings.Repeat("0123456789", 200_000))
	if got := fetch(t, message{"path": file, "kind": "file"}); string(got) != content(t, file) {
		t.Fatalf("got %d bytes", len(got))
	}
}

func TestGetOfATreeFollowsNoLinkAndSkipsPipesAndWhatIsExcluded(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/keep/file", "text")
	write(t, root+"/keep/debug.log", "x")
	write(t, root+"/node_modules/package/index.js", "x")
	write(t, root+"/top.log", "x")
	if err := os.Symlink("/etc", root+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(root+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	data := fetch(t, message{"path": root, "kind": "tar", "exclude": []string{"node_modules", "**/*.log"}})
	archive := tar.NewReader(bytes.NewReader(data))
	got := []string{}
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, header.Name+header.Linkname)
	}
	if strings.Join(got, " ") != "keep/ keep/file link/etc" {
		t.Fatalf("got %q", got)
	}
}

func TestAFetchedTreeCanBePutBack(t *testing.T) {
	root, copied := t.TempDir(), t.TempDir()
	long := strings.Repeat("long-", 40)
	write(t, root+"/"+long+"/"+long+"/ünï\ncode", "text")
	client := request(t, message{"op": "put", "dest": copied, "kind": "tar"})
	client.data(fetch(t, message{"path": root, "kind": "tar"}))
	client.answer("ok")
	if content(t, copied+"/"+long+"/"+long+"/ünï\ncode") != "text" {
		t.Fatal("the file changed")
	}
}

func TestGetOfASingleFileAsTarHasOneEntry(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/file", "text")
	archive := tar.NewReader(bytes.NewReader(fetch(t, message{"path": root + "/file", "kind": "tar"})))
	header, err := archive.Next()
	if err != nil || header.Name != "file" || header.Size != 4 {
		t.Fatalf("got %v (%v)", header, err)
	}
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
