// A row of the table of commands.

import type { Input } from './input.ts'

export interface Command {
  readonly usage: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  readonly arg?: 'required' | 'optional'
  readonly load: () => Promise<(input: Input) => number | Promise<number>>
}

export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  readonly value?: string
  readonly help?: string
}

export function text(value: string, help: string): Option {
  return { type: 'string', value, help }
}

export function texts(value: string, help: string): Option {
  return { ...text(value, help), multiple: true }
}

export function flag(help: string): Option {
  return { type: 'boolean', help }
}

export const config = {
  config: text(
    'PATH',
    "the configuration file; default GATEHOUSE_CONFIG, else gatehouse.yaml here, else the program's own",
  ),
  data: text('FOLDER', 'the folder for local data; default GATEHOUSE_DATA'),
} as const

export const admin = {
  admin: text(
    'ADDRESS',
    'the address of the side port, such as 127.0.0.1:8081, in place of that in the configuration',
  ),
} as const

export const addresses = {
  listen: text(
    'ADDRESS',
    'where clients connect without TLS, such as 0.0.0.0:8080; default PORT for the port, else as configured',
  ),
  ...admin,
} as const

export const json: Readonly<Record<'json', Option>> = {
  json: flag('print JSON'),
}

export const yes: Readonly<Record<'yes', Option>> = {
  yes: flag('do not ask for confirmation'),
}

export const access: Readonly<Record<string, Option>> = {
  account: text('ID', 'the account; default GATEHOUSE_ACCOUNT'),
  url: text('URL', 'the admin listener; default from the configuration'),
  config: text('PATH', 'the configuration to read the admin listener from'),
  'token-file': text('PATH', 'a file with the API token, or - for stdin; default GATEHOUSE_TOKEN'),
  json: flag('print the result of the API as JSON'),
}
