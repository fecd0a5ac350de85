// Calls a list of networks by libcni, as container runtimes do: runtime VERB CONF CACHE [CONTAINER [VALID...]]. VERB is add, check,
// del, gc or status; CONF is a conflist; VALID are the containers that gc keeps. An attachment is the interface eth0 of a
// container. It prints what add answers, and ends with 1 and the reason on standard error if anything fails.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
)

func main() {
	if len(os.Args) < 4 {
		fail(fmt.Errorf("usage: runtime VERB CONF CACHE [CONTAINER [VALID...]]"))
	}
	list, err := libcni.ConfListFromFile(os.Args[2])
	if err != nil {
		fail(err)
	}
	runtime := libcni.NewCNIConfigWithCacheDir(filepath.SplitList(os.Getenv("CNI_PATH")), os.Args[3], nil)
	if err := call(runtime, list, os.Args[1], os.Args[4:]); err != nil {
		fail(err)
	}
}

func call(runtime *libcni.CNIConfig, list *libcni.NetworkConfigList, verb string, containers []string) error {
	ctx := context.Background()
	switch verb {
	case "gc":
		args := &libcni.GCArgs{ValidAttachments: []types.GCAttachment{}}
		for _, container := range containers {
			args.ValidAttachments = append(args.ValidAttachments, types.GCAttachment{ContainerID: container, IfName: "eth0"})
		}
		return runtime.GCNetworkList(ctx, list, args)
	case "status":
		return runtime.GetStatusNetworkList(ctx, list)
	}
	if len(containers) != 1 {
		return fmt.Errorf("%s needs one container", verb)
	}
	attachment := &libcni.RuntimeConf{ContainerID: containers[0], NetNS: "/var/run/netns/none", IfName: "eth0"}
	switch verb {
	case "add":
		result, err := runtime.AddNetworkList(ctx, list, attachment)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(result)
	case "check":
		return runtime.CheckNetworkList(ctx, list, attachment)
	case "del":
		return runtime.DelNetworkList(ctx, list, attachment)
	}
	return fmt.Errorf("%s is no verb", verb)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
