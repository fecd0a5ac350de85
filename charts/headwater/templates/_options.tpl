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

{{/* Refuses what the process would refuse at its start and the schema, which looks at one value and its grammar, cannot. */}}
{{- define "headwater.checkOptions" -}}
{{- $options := .Values.options -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- range $name, $value := $options -}}
{{- $fact := get $facts $name | default dict -}}
{{- $type := get $fact "type" | default "" -}}
{{- $text := include "headwater.text" $value -}}
{{- $isRefused := false -}}
{{- if eq $type "duration" -}}
{{- $ms := include "headwater.milliseconds" $text | float64 -}}
{{- $isNever := and (eq $ms 0.0) (get $fact "never" | default false) -}}
{{- $isOutside := or (lt $ms (float64 $fact.min)) (gt $ms (float64 $fact.max)) -}}
{{- $isBroken := and (get $fact "wholeSeconds" | default false) (ne (floor (divf $ms 1000.0)) (divf $ms 1000.0)) -}}
{{- $isRefused = and (not $isNever) (or $isOutside $isBroken) -}}
{{- else if eq $type "integer" -}}
{{- $isOther := and (hasKey $fact "or") (eq (float64 $text) (float64 $fact.or)) -}}
{{- $isRefused = and (not $isOther) (or (lt (float64 $text) (float64 $fact.min)) (gt (float64 $text) (float64 $fact.max))) -}}
{{- else if eq $type "number" -}}
{{- $isRefused = or (le (float64 $text) 0.0) (and (hasKey $fact "max") (gt (float64 $text) (float64 $fact.max))) -}}
{{- end -}}
{{- if $isRefused -}}
{{- fail (printf "options.%s is %s: it must be %s." $name $text $fact.accepts) -}}
{{- end -}}
{{- end -}}
{{- range $name, $fact := $facts -}}
{{- with get $fact "lessThan" -}}
{{- $text := include "headwater.text" (get $options $name | default $fact.default) -}}
{{- $limit := include "headwater.text" (get $options .limit | default .default) -}}
{{- $ms := mulf (include "headwater.milliseconds" $text | float64) .factor -}}
{{- if ge $ms (include "headwater.milliseconds" $limit | float64) -}}
{{- $multiplied := eq .factor 1.0 | ternary "" (printf "multiplied by %v " .factor) -}}
{{- fail (printf "options.%s is %s: %sit must be less than %s, which is %s." $name $text $multiplied .limit $limit) -}}
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
