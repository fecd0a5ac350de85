{{/* The address of the metrics over TCP; empty if there is none. */}}
{{- define "headwater.agentMetrics" -}}
{{- $metrics := .Values.agent.metrics | default (dict "bind" "none") -}}
{{- if eq $metrics.bind "none" -}}
{{- index .Values.agent.options "prometheus-serve-addr" | default "" -}}
{{- else -}}
{{- $host := get (dict "loopback" "127.0.0.1" "podIP" "$(POD_IP)" "all" "") $metrics.bind -}}
{{- printf "%s:%d" $host (int $metrics.port) -}}
{{- end -}}
{{- end -}}

{{/* The port of the metrics, if scrapers reach it. */}}
{{- define "headwater.agentScraped" -}}
{{- $address := include "headwater.agentMetrics" . -}}
{{- if and $address (not (regexMatch `^(127\.|localhost:|\[::1\])` $address)) -}}
{{- regexFind "[0-9]+$" $address -}}
{{- end -}}
{{- end -}}

{{/* Values of an earlier release do not have it. */}}
{{- define "headwater.agentHealthPort" -}}
{{- int (.Values.agent.healthPort | default 9969) -}}
{{- end -}}

{{/* As JSON. Where the addresses of a node come from follows from what the controller does, unless an option says it. */}}
{{- define "headwater.agentOptions" -}}
{{- $options := .Values.agent.options -}}
{{- if .Values.mode -}}
{{- $options = merge (dict) $options (dict "ipam" (eq .Values.mode "nodeipam" | ternary "kubernetes" .Values.mode)) -}}
{{- end -}}
{{- with include "headwater.agentMetrics" . -}}
{{- $options = merge (dict "prometheus-serve-addr" .) $options -}}
{{- end -}}
{{- toJson $options -}}
{{- end -}}

{{- define "headwater.agentArguments" -}}
- agent
- --agent-health-port={{ include "headwater.agentHealthPort" . }}
{{- range $name, $value := include "headwater.agentOptions" . | fromJson }}
- {{ printf "--%s=%s" $name (include "headwater.text" $value) | quote }}
{{- end }}
{{- end -}}
