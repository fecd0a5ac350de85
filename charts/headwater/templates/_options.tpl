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

{{/* How many letters to insert, delete or replace: Levenshtein's distance, of which one row is kept. */}}
{{- define "headwater.distance" -}}
{{- $letters := splitList "" (index . 1) -}}
{{- $row := untilStep 0 (len $letters | add1 | int) 1 -}}
{{- range $line, $from := splitList "" (index . 0) -}}
{{- $next := list (add1 $line) -}}
{{- range $column, $to := $letters -}}
{{- $exchanged := add (index $row $column) (eq $from $to | ternary 0 1) -}}
{{- $next = append $next (min $exchanged (index $row (add1 $column | int) | add1) (last $next | add1)) -}}
{{- end -}}
{{- $row = $next -}}
{{- end -}}
{{- last $row -}}
{{- end -}}

{{/* The nearest of the options, if it is near enough to be meant, as the command line looks for it. */}}
{{- define "headwater.meant" -}}
{{- $flag := index . 0 -}}
{{- $best := "" -}}
{{- $min := min 4 (div (len $flag | add1) 2) -}}
{{- range index . 1 -}}
{{- $candidate := printf "--%s" . -}}
{{- $longer := sub (len $candidate) (len $flag) -}}
{{- if and (lt $longer $min) (lt (mul -1 $longer) $min) -}}
{{- $distance := include "headwater.distance" (list $flag $candidate) | int64 -}}
{{- if lt $distance $min -}}
{{- $best = $candidate -}}
{{- $min = $distance -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $best -}}
{{- end -}}

{{/* Refuses options that the command does not have, in the words of its command line. */}}
{{- define "headwater.checkNames" -}}
{{- $known := get (.Files.Get "files/commands.json" | fromJson) .Command -}}
{{- $at := .At -}}
{{- range $name, $_ := .Options -}}
{{- if not (has $name $known) -}}
{{- $flag := printf "--%s" $name -}}
{{- $meant := include "headwater.meant" (list $flag $known) -}}
{{- fail (printf "%s: unknown option %s%s" $at $flag (empty $meant | ternary "" (printf "; did you mean %s?" $meant))) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Refuses what the options lack together, in the words of the process. Not where it finds others that the chart does not see. */}}
{{- define "headwater.checkNeeds" -}}
{{- $options := .Options -}}
{{- $root := . -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- range $_, $need := get (.Files.Get "files/commands.json" | fromJson) "needs" -}}
{{- $isBroken := eq $need.scope $root.Scope -}}
{{- range $name, $texts := $need.where | default dict -}}
{{- $value := include "headwater.text" (get $options $name | default (get (get $facts $name | default dict) "default") | default "") -}}
{{- if not (has $value $texts) -}}
{{- $isBroken = false -}}
{{- end -}}
{{- end -}}
{{- range $need.metBy | default list -}}
{{- if get $options . -}}
{{- $isBroken = false -}}
{{- end -}}
{{- end -}}
{{- if and $isBroken (not (and $need.metBy $root.HasOthers)) -}}
{{- $value := include "headwater.text" (get $options $need.name | default "") -}}
{{- fail (printf "%s.%s: %q is refused because %s; accepted: %s" $root.At $need.name $value $need.because $need.accepted) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Refuses what the process would refuse at its start and the schema, which looks at one value and its grammar, cannot. */}}
{{- define "headwater.checkOptions" -}}
{{- $options := .Values.options -}}
{{- $at := .At | default "options" -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- $command := .Command | default (eq (include "headwater.mode" .) "nodeipam" | ternary "nodeipam" "run") -}}
{{- include "headwater.checkNames" (dict "Options" $options "At" $at "Files" .Files "Command" $command) -}}
{{- $scope := .Command | default (include "headwater.mode" .) -}}
{{- $hasOthers := or (.Values.ciliumConfig).mount (not (empty .Values.extraEnv)) -}}
{{- include "headwater.checkNeeds" (dict "Options" $options "At" $at "Files" .Files "Scope" $scope "HasOthers" $hasOthers) -}}
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
{{- fail (printf "%s.%s is %s: it must be %s." $at $name $text $fact.accepts) -}}
{{- end -}}
{{- end -}}
{{- range $name, $fact := $facts -}}
{{- with get $fact "lessThan" -}}
{{- $text := include "headwater.text" (get $options $name | default $fact.default) -}}
{{- $limit := include "headwater.text" (get $options .limit | default .default) -}}
{{- $ms := mulf (include "headwater.milliseconds" $text | float64) .factor -}}
{{- if ge $ms (include "headwater.milliseconds" $limit | float64) -}}
{{- $multiplied := eq .factor 1.0 | ternary "" (printf "multiplied by %v " .factor) -}}
{{- fail (printf "%s.%s is %s: %sit must be less than %s, which is %s." $at $name $text $multiplied .limit $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A line for each option that holds for the life of the process. */}}
{{- define "headwater.arguments" -}}
{{- $host := get (dict "loopback" "127.0.0.1" "podIP" "$(POD_IP)" "all" "") .Values.serve.bind -}}
- {{ eq (include "headwater.mode" .) "nodeipam" | ternary "nodeipam" "run" }}
- --config-dir=/etc/headwater
- {{ printf "--serve-addr=%s:%d" $host (int .Values.serve.port) | quote }}
{{ include "headwater.optionArguments" . }}
{{- end -}}

{{- define "headwater.optionArguments" -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- $options := .Values.options -}}
{{- if and .Values.mode (ne .Values.mode "nodeipam") -}}
{{- $options = merge (dict "ipam" .Values.mode) $options -}}
{{- end -}}
{{- range $name, $value := $options }}
{{- if not (get (get $facts $name | default dict) "live") }}
- {{ printf "--%s=%s" $name (include "headwater.text" $value) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The options that may change while the process runs. */}}
{{- define "headwater.liveOptions" -}}
{{- $facts := .Files.Get "files/options.json" | fromJson -}}
{{- $live := dict "dry-run" (toString .Values.dryRun) "pause" (join "," .Values.pause) -}}
{{- range $name, $value := .Values.options }}
{{- if get (get $facts $name | default dict) "live" }}
{{- $_ := set $live $name (include "headwater.text" $value) }}
{{- end }}
{{- end }}
{{- toYaml $live }}
{{- end -}}

{{/* Refuses two processes of one host on one port. */}}
{{- define "headwater.checkPorts" -}}
{{- $used := dict -}}
{{- $ports := list -}}
{{- if and (include "headwater.hasController" .) .Values.hostNetwork -}}
{{- $ports = append $ports (list "serve.port" (int .Values.serve.port)) -}}
{{- end -}}
{{- if (.Values.nodeIpam).enabled -}}
{{- $ports = append $ports (list "nodeIpam.port" (int .Values.nodeIpam.port)) -}}
{{- end -}}
{{- if (.Values.agent).enabled -}}
{{- $ports = append $ports (list "agent.healthPort" (include "headwater.agentHealthPort" .)) -}}
{{- with include "headwater.agentMetrics" . -}}
{{- $ports = append $ports (list "the port of the agent's metrics" (regexFind "[0-9]+$" .)) -}}
{{- end -}}
{{- end -}}
{{- range $each := $ports -}}
{{- $port := index $each 1 | toString -}}
{{- with get $used $port -}}
{{- fail (printf "%s and %s are both %s: they may meet on one host, so each needs its own." . (index $each 0) $port) -}}
{{- end -}}
{{- $_ := set $used $port (index $each 0) -}}
{{- end -}}
{{- end -}}
