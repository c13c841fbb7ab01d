// A row of the table of commands.

import type { Input } from './input.ts'

export interface Command {
  readonly usage: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** Maximum and minimum number of arguments besides the options; none by default. */
  readonly args: number
  readonly least?: number
  /** Loads the code of the command, which returns the exit code. */
  readonly load: () => Promise<(input: Input) => number | Promise<number>>
}

/** An option, as `parseArgs` takes it, with its text in the command's help. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  /** The placeholder for the value in the help. */
  readonly value?: string
  readonly help?: string
}

/** The location of the configuration and the local data. */
export const config = {
  config: {
    type: 'string',
    value: 'PATH',
    help: "the configuration file; default GATEHOUSE_CONFIG, else gatehouse.yaml here, else the program's own",
  },
  data: {
    type: 'string',
    value: 'FOLDER',
    help: 'the folder for local data; default GATEHOUSE_DATA',
  },
} as const

/** The side port of a gateway. */
export const admin = {
  admin: {
    type: 'string',
    value: 'ADDRESS',
    help: 'the address of the side port, such as 127.0.0.1:8081, in place of that in the configuration',
  },
} as const

/** The listening addresses of a gateway. */
export const addresses = {
  listen: {
    type: 'string',
    value: 'ADDRESS',
    help: 'where clients connect without TLS, such as 0.0.0.0:8080; default PORT for the port, else as configured',
  },
  ...admin,
} as const

/** The format of what a command prints. */
export const json: Readonly<Record<'json', Option>> = {
  json: { type: 'boolean', help: 'print JSON' },
}

/** Permits an irreversible action. */
export const yes: Readonly<Record<'yes', Option>> = {
  yes: { type: 'boolean', help: 'do not ask for confirmation' },
}

/** How to reach the API, and the format of the result: the same for every verb. */
export const access: Readonly<Record<string, Option>> = {
  account: { type: 'string', value: 'ID', help: 'the account; default GATEHOUSE_ACCOUNT' },
  url: { type: 'string', value: 'URL', help: 'the admin listener; default from the configuration' },
  config: { type: 'string', value: 'PATH', help: 'the configuration to read the admin listener from' },
  'token-file': {
    type: 'string',
    value: 'PATH',
    help: 'a file with the API token, or - for stdin; default GATEHOUSE_TOKEN',
  },
  json: { type: 'boolean', help: 'print the result of the API as JSON' },
}
