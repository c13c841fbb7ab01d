// The options that commands share, and how to write others.

export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  readonly value?: string
  readonly help?: string
}

export function text(value: string, help: string) {
  return { type: 'string', value, help } as const
}

export function texts(value: string, help: string) {
  return { ...text(value, help), multiple: true } as const
}

export function flag(help: string) {
  return { type: 'boolean', help } as const
}

export type Values<Options> = {
  readonly [Name in keyof Options]?: Options[Name] extends { readonly type: 'boolean' }
    ? boolean
    : Options[Name] extends { readonly multiple: true }
      ? readonly string[]
      : string
}

export const config = {
  config: text(
    'PATH',
    "the configuration file; default GATEHOUSE_CONFIG, else gatehouse.yaml here, else the program's own",
  ),
  data: text('FOLDER', 'the folder for local data; default GATEHOUSE_DATA'),
}

export const admin = {
  admin: text(
    'ADDRESS',
    'the address of the side port, such as 127.0.0.1:8081, in place of that in the configuration',
  ),
}

export const addresses = {
  listen: text(
    'ADDRESS',
    'where clients connect without TLS, such as 0.0.0.0:8080; default PORT for the port, else as configured',
  ),
  ...admin,
}

export const json = { json: flag('print JSON') }

export const yes = { yes: flag('do not ask for confirmation') }

export const access = {
  account: text('ID', 'the account; default GATEHOUSE_ACCOUNT, else the only one of the token'),
  url: text('URL', 'the admin listener; default from the configuration'),
  config: text('PATH', 'the configuration to read the admin listener from'),
  'token-file': text('PATH', 'a file with the API token, or - for stdin; default GATEHOUSE_TOKEN'),
  json: flag('print the result of the API as JSON'),
}
