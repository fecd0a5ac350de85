{{/* The text of an option's value. Helm reads numbers as floats, which print large ones as 1e+06. */}}
{{- define "headwater.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . -}}{{ printf "%.0f" . }}{{- else -}}{{ . }}{{- end -}}
{{- else if kindIs "slice" . -}}{{ join "," . }}
{{- else if kindIs "map" . -}}{{ toJson . }}
{{- else -}}{{ . }}
{{- end -}}
{{- end -}}

{{/* Milliseconds of a duration as Go writes it, or of plain seconds. */}}
{{- define "headwater.milliseconds" -}}
{{- $sum := 0.0 -}}
{{- $units := dict "ns" 0.000001 "us" 0.001 "µs" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 "" 1000.0 -}}
{{- range regexFindAll "[0-9.]+[a-zµ]*" . -1 -}}
{{- $sum = addf $sum (mulf (regexFind "[0-9.]+" . | float64) (get $units (regexFind "[a-zµ]+" .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* Refuses durations that the process would refuse at its start. The schema has looked at their grammar. */}}
{{- define "headwater.checkDurations" -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- range $name, $value := .Values.options -}}
{{- $fact := get $facts $name | default dict -}}
{{- if eq (get $fact "type" | default "") "duration" -}}
{{- $text := include "headwater.text" $value -}}
{{- $ms := include "headwater.milliseconds" $text | float64 -}}
{{- $isNever := and (eq $ms 0.0) (get $fact "never" | default false) -}}
{{- $isOutside := or (lt $ms (float64 $fact.least)) (gt $ms (float64 $fact.most)) -}}
{{- $isBroken := and (get $fact "wholeSeconds" | default false) (ne (floor (divf $ms 1000.0)) (divf $ms 1000.0)) -}}
{{- if and (not $isNever) (or $isOutside $isBroken) -}}
{{- fail (printf "options.%s is %s: it must be %s." $name $text $fact.accepts) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A line for each option that holds for the life of the process. */}}
{{- define "headwater.arguments" -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- $host := get (dict "loopback" "127.0.0.1" "podIP" "$(POD_IP)" "all" "") .Values.serve.bind -}}
- run
- --config-dir=/etc/headwater
- {{ printf "--serve-addr=%s:%d" $host (int .Values.serve.port) | quote }}
{{- range $name, $value := .Values.options }}
{{- if not (get (get $facts $name | default dict) "live") }}
- {{ printf "--%s=%s" $name (include "headwater.text" $value) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The options that may change while the process runs. */}}
{{- define "headwater.liveOptions" -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
dry-run: {{ .Values.dryRun | toString | quote }}
pause: {{ join "," .Values.pause | quote }}
{{- range $name, $value := .Values.options }}
{{- if get (get $facts $name | default dict) "live" }}
{{ $name }}: {{ include "headwater.text" $value | quote }}
{{- end }}
{{- end }}
{{- end -}}
