// Command cidr-set measures the CIDR set of Kubernetes' node-ipam-controller, as its own module publishes it: how long one
// allocation takes, in nanoseconds, in a set of 2^16 blocks: from empty to full, with 99 % of all blocks taken, and with the only free
// block a whole lap away.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"os"
	"time"

	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset"
)

const (
	capacity = 1 << 16
	rounds   = 20
	// One block in so many is free when the set is nearly full.
	oneFreeIn = 100
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	_, cluster, err := net.ParseCIDR("10.0.0.0/8")
	if err != nil {
		return err
	}
	emptyToFull, nearlyFull, farAway := time.Hour, time.Hour, time.Hour
	random := rand.New(rand.NewSource(1))
	for round := 0; round < rounds; round++ {
		set, err := cidrset.NewCIDRSet(cluster, 24)
		if err != nil {
			return err
		}
		all := make([]*net.IPNet, capacity)
		begin := time.Now()
		for index := range all {
			if all[index], err = set.AllocateNext(); err != nil {
				return err
			}
		}
		emptyToFull = min(emptyToFull, time.Since(begin)/capacity)

		free := capacity / oneFreeIn
		for _, index := range random.Perm(capacity)[:free] {
			if err := set.Release(all[index]); err != nil {
				return err
			}
		}
		begin = time.Now()
		for index := 0; index < free; index++ {
			if _, err := set.AllocateNext(); err != nil {
				return err
			}
		}
		nearlyFull = min(nearlyFull, time.Since(begin)/time.Duration(free))

		far, err := cidrset.NewCIDRSet(cluster, 24)
		if err != nil {
			return err
		}
		for index := range all {
			if all[index], err = far.AllocateNext(); err != nil {
				return err
			}
		}
		if err := far.Release(all[capacity-1]); err != nil {
			return err
		}
		begin = time.Now()
		if _, err := far.AllocateNext(); err != nil {
			return err
		}
		farAway = min(farAway, time.Since(begin))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]int64{
		"emptyToFull": emptyToFull.Nanoseconds(),
		"nearlyFull":  nearlyFull.Nanoseconds(),
		"farAway":     farAway.Nanoseconds(),
	})
}
