package main

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"time"
)

// The ports that the test's end of the link (libs/drivers/guest-link/src/testing/relayed-guest.ts) listens on. Both are
// opened from here, so that the guest needs no other way to the test than the link under test.
const (
	// controlPort carries the test's orders, one line each, and the answers to them.
	controlPort = 7000
	// relayPort gets one stream for each stream of the guest, with a first line that says which it is.
	relayPort = 7001

	// redialInterval is long enough for the next test to listen: a vsock dialled too early stays silent for 2 s.
	redialInterval = 50 * time.Millisecond
)

// peer follows the orders of one test.
type peer struct {
	link    link
	control stream
	writing sync.Mutex
	ports   map[uint32]bool
}

// serve follows the orders of one test after the other. It does not return.
func serve(l link) {
	for ; ; time.Sleep(redialInterval) {
		control, err := l.dial(controlPort)
		if err != nil {
			continue
		}
		p := &peer{link: l, control: control, ports: make(map[uint32]bool)}
		p.followOrders()
		control.Close()
	}
}

// followOrders returns when the test has ended the control stream. Then nothing listens any more.
func (p *peer) followOrders() {
	orders := bufio.NewScanner(p.control)
	for orders.Scan() {
		p.follow(orders.Text())
	}
	for port := range p.ports {
		p.link.unlisten(port)
	}
}

func (p *peer) follow(order string) {
	var port uint32
	var id string
	if n, _ := fmt.Sscanf(order, "listen %d", &port); n == 1 {
		p.listen(port)
	} else if n, _ := fmt.Sscanf(order, "unlisten %d", &port); n == 1 {
		p.link.unlisten(port)
		delete(p.ports, port)
		p.answer("unlistening %d", port)
	} else if n, _ := fmt.Sscanf(order, "connect %s %d", &id, &port); n == 2 {
		go p.connect(id, port)
	}
}

func (p *peer) listen(port uint32) {
	err := p.link.listen(port, func(accepted stream) { p.relay(accepted, fmt.Sprintf("accepted %d", port)) })
	if err != nil {
		p.answer("failed %d", port)
		return
	}
	p.ports[port] = true
	p.answer("listening %d", port)
}

func (p *peer) connect(id string, port uint32) {
	connected, err := p.link.dial(port)
	if err != nil {
		p.answer("refused %s", id)
		return
	}
	defer connected.Close()
	p.relay(connected, "connected "+id)
}

// relay joins a stream of the guest with one to the test until both have ended.
func (p *peer) relay(own stream, title string) {
	relayed, err := p.link.dial(relayPort)
	if err != nil {
		return
	}
	defer relayed.Close()
	if _, err := fmt.Fprintln(relayed, title); err != nil {
		return
	}
	var directions sync.WaitGroup
	directions.Add(2)
	go func() {
		defer directions.Done()
		forward(own, relayed)
	}()
	go func() {
		defer directions.Done()
		forward(relayed, own)
	}()
	directions.Wait()
}

// forward copies until the end of one stream, and ends the other.
func forward(from, to stream) {
	// A stream that breaks ends like one that is over.
	_, _ = io.Copy(to, from)
	to.Close()
}

// answer tells the test. One that has gone does not need to be told.
func (p *peer) answer(format string, values ...any) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = fmt.Fprintf(p.control, format+"\n", values...)
}
