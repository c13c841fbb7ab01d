// The verbs of `gatehouse client`, as rows of the table of commands. They work over the management API, so the gateway has to run.

import type { Command, Option } from '../command.ts'

/** How the API is reached, and in which form its result is written: the same for every verb. */
const access: Readonly<Record<string, Option>> = {
  account: { type: 'string', value: 'ID', help: 'the account; else GATEHOUSE_ACCOUNT' },
  url: { type: 'string', value: 'URL', help: 'the admin listener; else that of the configuration' },
  config: { type: 'string', value: 'PATH', help: 'the configuration that names the admin listener' },
  'token-file': {
    type: 'string',
    value: 'PATH',
    help: 'a file with the API token, - for stdin; else GATEHOUSE_TOKEN',
  },
  json: { type: 'boolean', help: 'write the result of the API as JSON' },
}

const settings: Readonly<Record<string, Option>> = {
  name: { type: 'string', value: 'NAME', help: 'what users are shown' },
  'redirect-uri': {
    type: 'string',
    multiple: true,
    value: 'URI',
    help: 'where users are sent back to; may be given again',
  },
  scope: { type: 'string', multiple: true, value: 'ID', help: 'what it may ask for; may be given again' },
  'auth-method': {
    type: 'string',
    value: 'METHOD',
    help: 'client_secret_basic (unless given), client_secret_post, or none for apps that keep no secret',
  },
  refresh: { type: 'boolean', help: 'give refresh tokens too' },
  'client-uri': { type: 'string', value: 'URI', help: 'its home page, whose host is to be proven' },
  'logo-uri': { type: 'string', value: 'URI', help: 'its logo' },
  'policy-uri': { type: 'string', value: 'URI', help: 'its privacy policy' },
  'tos-uri': { type: 'string', value: 'URI', help: 'its terms of service' },
  'post-logout-uri': {
    type: 'string',
    multiple: true,
    value: 'URI',
    help: 'where users may go after logging out; may be given again',
  },
  origin: {
    type: 'string',
    multiple: true,
    value: 'ORIGIN',
    help: 'a web page origin that may call the token endpoint; may be given again',
  },
  file: { type: 'string', value: 'PATH', help: 'the whole body as JSON, in place of the options above' },
}

const { file: wholeBody, 'auth-method': authMethod, ...plainSettings } = settings

const changes: Readonly<Record<string, Option>> = {
  ...plainSettings,
  'auth-method': { ...authMethod!, help: 'client_secret_basic, client_secret_post, or none' },
  'no-refresh': { type: 'boolean', help: 'give refresh tokens no more' },
  clear: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: 'take out an optional setting, by its name in the API, such as logo_uri; may be given again',
  },
  file: { ...wholeBody!, help: 'the members to change as JSON, in place of the options above' },
}

const filters: Readonly<Record<string, Option>> = {
  name: { type: 'string', value: 'TEXT', help: 'only those with the text in their name' },
  visibility: { type: 'string', value: 'WHICH', help: 'only those that are private, or public' },
}

export const clientCommands: Readonly<Record<string, Command>> = {
  'client create': {
    usage: 'client create --name NAME --redirect-uri URI --scope ID [OPTION]…',
    summary: 'Create an OAuth client; its secret is shown this once.',
    options: { ...settings, ...access },
    args: 0,
    load: async () => (await import('./create.ts')).create,
  },
  'client list': {
    usage: 'client list [OPTION]…',
    summary: 'List the OAuth clients of the account.',
    options: { ...filters, ...access },
    args: 0,
    load: async () => (await import('./list.ts')).list,
  },
  'client show': {
    usage: 'client show ID [OPTION]…',
    summary: 'Show all of an OAuth client, and what proves its domain.',
    options: access,
    args: 1,
    least: 1,
    load: async () => (await import('./show.ts')).show,
  },
  'client update': {
    usage: 'client update ID [OPTION]…',
    summary: 'Change settings of an OAuth client; what may be given again replaces all there were.',
    options: { ...changes, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./update.ts')).update,
  },
  'client rotate': {
    usage: 'client rotate ID [OPTION]…',
    summary: 'Issue a second secret; the first one goes on working.',
    options: access,
    args: 1,
    least: 1,
    load: async () => (await import('./secrets.ts')).rotate,
  },
  'client drop-old-secret': {
    usage: 'client drop-old-secret ID [OPTION]…',
    summary: 'Remove the older of two secrets.',
    options: access,
    args: 1,
    least: 1,
    load: async () => (await import('./secrets.ts')).dropOldSecret,
  },
  'client verify': {
    usage: 'client verify ID [--wait] [OPTION]…',
    summary: 'Ask DNS now for the record that proves the domain; starts a failed proof again.',
    options: { wait: { type: 'boolean', help: 'wait until it is verified or has failed' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./verify.ts')).verify,
  },
  'client publish': {
    usage: 'client publish ID [--yes] [OPTION]…',
    summary: 'Make an OAuth client public, for ever.',
    options: { yes: { type: 'boolean', help: 'do it without asking' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./publish.ts')).publish,
  },
  'client delete': {
    usage: 'client delete ID [--yes] [OPTION]…',
    summary: 'Delete an OAuth client and every grant of it.',
    options: { yes: { type: 'boolean', help: 'do it without asking' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./delete.ts')).remove,
  },
}
