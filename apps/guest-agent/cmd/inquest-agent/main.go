// Command inquest-agent is the guest agent. The kernel runs it as /init of the initramfs; there it starts itself once
// more as the service process that answers the host.
package main

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/egress"
	"inquest.dev/guest-agent/internal/initramfs"
	"inquest.dev/guest-agent/internal/lifecycle"
	"inquest.dev/guest-agent/internal/modules"
	"inquest.dev/guest-agent/internal/mux"
	"inquest.dev/guest-agent/internal/ops"
	"inquest.dev/guest-agent/internal/process"
	"inquest.dev/guest-agent/internal/vsock"
)

// version is set by the build.
var version = "development"

const (
	// portTimeout bounds the wait for the virtio-serial port: the kernel makes it some time after its driver is loaded.
	portTimeout  = 10 * time.Second
	portInterval = 10 * time.Millisecond
)

func main() {
	switch {
	case os.Args[0] == initramfs.ServiceName:
		if err := serve(); err != nil {
			log.Fatalf("inquest-agent: %v", err)
		}
	case os.Getpid() == 1:
		initramfs.Run()
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println(version)
	default:
		fmt.Fprintln(os.Stderr, "inquest-agent runs as PID 1 of a guest; --version prints its version")
		os.Exit(2)
	}
}

// serve is the service process. It returns only with an error that leaves the host no way to the agent.
func serve() error {
	logToKernel()
	nameProcess()
	// The descriptor of the initramfs is not for the commands of the guest.
	unix.CloseOnExec(initramfs.OldRootDescriptor)
	monitor := lifecycle.StartMonitor()
	reaper, err := process.StartReaper()
	if err != nil {
		return err
	}
	link := &hostLink{}
	arguments, err := initramfs.ReadArguments()
	if err != nil {
		// Nothing is offered then, which is what the host will see.
		log.Print(err)
	}
	if err := lifecycle.ShowOnConsole(arguments[initramfs.ConsoleLevelArgument]); err != nil {
		log.Print(err)
	}
	ways := egress.NewWays(link.dial)
	if err := ways.Open(egress.OfferAtBoot(arguments)); err != nil {
		// The machine may do without.
		log.Print(err)
	}
	server := ops.NewServer(version, reaper, monitor, ways)
	go func() {
		log.Printf("hotplug: %v", modules.LoadForHotplug(initramfs.OldRoot, func(err error) { log.Printf("hotplug: %v", err) }))
	}()
	failed := make(chan error, 2)
	go func() { failed <- serveMux(server, link) }()
	go func() {
		failed <- vsock.Listen(ops.Port, func(stream *os.File) { server.Serve(stream) })
	}()
	// A machine has one of the two links; the agent is lost only when neither works.
	return fmt.Errorf("no link to the host: %v; %w", <-failed, <-failed)
}

func serveMux(server *ops.Server, link *hostLink) error {
	port, err := awaitPort()
	if err != nil {
		return err
	}
	link.port.Store(port)
	return mux.Serve(port, mux.Handlers{ops.Port: func(stream net.Conn) { server.Serve(stream) }})
}

func awaitPort() (*mux.Port, error) {
	for end := time.Now().Add(portTimeout); ; time.Sleep(portInterval) {
		port, err := mux.OpenPort()
		if !errors.Is(err, mux.ErrNoPort) || time.Now().After(end) {
			return port, err
		}
	}
}

// nameProcess gives the process the name that ps shows; the kernel calls it after the file it was started from (exe).
// A name is only a help to people, so a kernel that refuses it is no error.
func nameProcess() { _ = os.WriteFile("/proc/self/comm", []byte("inquest-agent"), 0) }

// logToKernel sends the log to the kernel's, where it reaches the serial console and outlives a console that init takes
// over. Without that it stays on standard error.
func logToKernel() {
	log.SetFlags(0)
	log.SetPrefix("inquest-agent: ")
	if kernelLog, err := os.OpenFile("/dev/kmsg", os.O_WRONLY, 0); err == nil {
		log.SetOutput(kernelLog)
	}
}
