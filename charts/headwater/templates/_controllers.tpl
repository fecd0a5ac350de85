{{/* What a controller does: the value mode, else that of the option. */}}
{{- define "headwater.mode" -}}
{{- .Values.mode | default (index .Values.options "ipam") | default "eni" -}}
{{- end -}}

{{/* Empty if this release runs no controller of its own mode. Values of an earlier release do not have it. */}}
{{- define "headwater.hasController" -}}
{{- if ne (toString (get (.Values.controller | default dict) "enabled")) "false" -}}true{{- end -}}
{{- end -}}

{{/*
An object, by the name of its template, for each controller of the release: that of the values, and with nodeIpam.enabled a
second one, which is the same chart with other values.
*/}}
{{- define "headwater.each" -}}
{{- $root := index . 0 -}}
{{- $object := index . 1 -}}
{{- include "headwater.checkPorts" $root -}}
{{- if include "headwater.hasController" $root }}
{{ include $object $root }}
{{- end }}
{{- if ($root.Values.nodeIpam).enabled }}
---
{{- $second := include "headwater.nodeIpam" $root | fromJson }}
{{- $_ := set $second "Files" $root.Files }}
{{ include $object $second }}
{{- end }}
{{- end -}}

{{/* The second controller, as JSON: what its templates see. */}}
{{- define "headwater.nodeIpam" -}}
{{- $own := .Values.nodeIpam -}}
{{- $on := dict "create" true -}}
{{- $off := dict "create" false -}}
{{- $values := dict
  "mode" "nodeipam"
  "fullnameOverride" (printf "%s-nodeipam" (include "headwater.fullname" .) | trunc 63 | trimSuffix "-")
  "nameOverride" (printf "%s-nodeipam" (include "headwater.name" . | trunc 54))
  "options" $own.options
  "replicas" $own.replicas
  "resources" $own.resources
  "serve" (dict "port" $own.port "bind" ($own.bind | default "loopback"))
  "hostNetwork" true
  "dnsPolicy" "Default"
  "dryRun" ($own.dryRun | default false)
  "pause" ($own.pause | default list)
  "ciliumConfig" (dict "mount" false)
  "serviceAccount" (dict "create" true "annotations" ($own.serviceAccountAnnotations | default dict))
  "networkPolicy" $off
  "service" ($own.service | default $on)
  "serviceMonitor" ($own.serviceMonitor | default $off)
  "podDisruptionBudget" ($own.podDisruptionBudget | default $on)
-}}
{{- range $name := list "image" "imagePullSecrets" "rbac" "k8sServiceHost" "k8sServicePort" "nodes" -}}
{{- $_ := set $values $name (get $.Values $name) -}}
{{- end -}}
{{- range $name := list "priorityClassName" "nodeSelector" "tolerations" -}}
{{- $_ := set $values $name (get $own $name | default (get $.Values $name)) -}}
{{- end -}}
{{- range $name := list "podAnnotations" "podLabels" "affinity" "topologySpreadConstraints" "updateStrategy" "extraEnv" "extraVolumes" "extraVolumeMounts" -}}
{{- $_ := set $values $name (get $own $name) -}}
{{- end -}}
{{- dict
  "Values" $values
  "Chart" (dict "Name" .Chart.Name "Version" .Chart.Version "AppVersion" .Chart.AppVersion)
  "Release" (dict "Name" .Release.Name "Namespace" .Release.Namespace "Service" .Release.Service)
  "At" "nodeIpam.options"
  | toJson -}}
{{- end -}}
