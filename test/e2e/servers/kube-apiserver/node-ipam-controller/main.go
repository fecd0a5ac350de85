// Command node-ipam-controller runs the node-ipam-controller of kube-controller-manager as its own module publishes it, without
// the other controllers: nothing of it is changed here. Only the flags that concern it are read.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/controller/nodeipam"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "")
	clusterCIDR := flag.String("cluster-cidr", "", "")
	serviceCIDR := flag.String("service-cluster-ip-range", "", "")
	qps := flag.Float64("kube-api-qps", 20, "")
	burst := flag.Int("kube-api-burst", 30, "")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(*qps), *burst
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	cidrs, err := parse(*clusterCIDR)
	if err != nil {
		return err
	}
	services, err := parse(*serviceCIDR)
	if err != nil {
		return err
	}
	services = append(services, nil, nil)
	sizes := make([]int, len(cidrs))
	for index, cidr := range cidrs {
		sizes[index] = 24
		if cidr.IP.To4() == nil {
			sizes[index] = 64
		}
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := nodeipam.NewNodeIpamController(ctx, factory.Core().V1().Nodes(), nil, client,
		cidrs, services[0], services[1], sizes, ipam.RangeAllocatorType)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	fmt.Println("started")
	controller.Run(ctx)
	return nil
}

func parse(text string) ([]*net.IPNet, error) {
	var found []*net.IPNet
	for _, each := range strings.Split(text, ",") {
		if each == "" {
			continue
		}
		_, cidr, err := net.ParseCIDR(each)
		if err != nil {
			return nil, err
		}
		found = append(found, cidr)
	}
	return found, nil
}
