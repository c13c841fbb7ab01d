// The help of `gatehouse`, of its nouns and of its commands, for terminals of 120 columns.

import type { Command } from './command.ts'
import { version } from '../system/version.ts'

const width = 120
/** The column of summaries, behind usages that are short enough. */
const summaryColumn = 43

export function help(commands: Readonly<Record<string, Command>>): string {
  const all = Object.values(commands)
  const [here, byApi] = [all.filter(command => !usesApi(command)), all.filter(usesApi)]
  return `Gatehouse ${version}, a reverse proxy that reports every failure accurately.

${helpForVerbs(here)}
By the management API of a running gateway, with a token in GATEHOUSE_TOKEN, and its account in GATEHOUSE_ACCOUNT
if it has several:

${helpForVerbs(byApi)}
The configuration is read from --config, else from the path in GATEHOUSE_CONFIG, else from gatehouse.yaml in the working
directory, else from config/gatehouse.yaml in the program's folder. Data are kept in --data, else in GATEHOUSE_DATA.
The commands that do not use the API work on this machine, in its configuration and its store, and need no token.

The log and what a command is asked for go to stdout, messages for people to stderr. The exit code is 0 for success; 1
if the gateway or the store refuses or cannot be reached, if you decline, or if the result is bad, as of health; and 2
for a mistake in the arguments or in the configuration: then nothing was done.
`
}

export function helpForVerbs(commands: readonly Command[]): string {
  return commands.map(rowOf).join('')
}

export function helpFor({ usage, summary, options }: Command): string {
  const rows = Object.entries(options).flatMap(([name, { value, help }]) =>
    help === undefined ? [] : [[`  --${name}${value === undefined ? '' : ` ${value}`}`, help] as const],
  )
  const column = Math.max(...rows.map(([option]) => option.length)) + 2
  const list = rows.map(([option, help]) => hanging(option, help, column)).join('')
  return `${wrapped(`Usage: gatehouse ${usage}`, 8)}\n${wrapped(summary, 0)}${list && `\n${list}`}`
}

function usesApi({ options }: Command): boolean {
  return Object.hasOwn(options, 'token-file')
}

function rowOf({ usage, summary }: Command): string {
  return hanging(`  gatehouse ${usage}`, summary, summaryColumn)
}

function hanging(label: string, text: string, column: number): string {
  if (label.length > column - 2) return `${label}\n${wrapped(`${' '.repeat(column)}${text}`, column)}`
  return wrapped(`${label.padEnd(column)}${text}`, column)
}

function wrapped(text: string, indent: number): string {
  if (text.length <= width) return `${text}\n`
  const at = text.lastIndexOf(' ', width)
  if (at <= indent) return `${text}\n`
  return `${text.slice(0, at).trimEnd()}\n${wrapped(`${' '.repeat(indent)}${text.slice(at + 1)}`, indent)}`
}
