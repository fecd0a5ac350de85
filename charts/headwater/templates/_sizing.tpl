{{/* Measured: 171 MB at the peak of a scale-up of 1,000 nodes, 57 MB of it for the nodes (docs/sizing.md). */}}
{{- define "headwater.resources" -}}
{{- if .Values.resources -}}
{{- toYaml .Values.resources -}}
{{- else -}}
{{- $request := add 144 (div (mul (int .Values.nodes) 80) 1000) -}}
requests:
  cpu: {{ if gt (int .Values.nodes) 1000 }}250m{{ else }}100m{{ end }}
  memory: {{ $request }}Mi
limits:
  memory: {{ mul $request 2 }}Mi
{{- end -}}
{{- end -}}

{{/* A leader that cannot renew its Lease exits: the kubelet waits longer than that. */}}
{{- define "headwater.livenessFailures" -}}
{{- $lease := index .Values.options "leader-election-lease-duration" | default "15s" -}}
{{- $ms := include "headwater.milliseconds" (include "headwater.text" $lease) | float64 -}}
{{- max 3 (add 2 (int64 (divf $ms 10000.0))) -}}
{{- end -}}

{{- define "headwater.probe" -}}
{{- if eq .Values.serve.bind "loopback" -}}
host: 127.0.0.1
{{ end -}}
port: http
scheme: HTTP
{{- end -}}
