// The verbs of `gatehouse client`, as rows of the table of commands. They use the management API, so the
// gateway must be running.

import { access, type Command, type Option } from '../command.ts'

const settings: Readonly<Record<string, Option>> = {
  name: { type: 'string', value: 'NAME', help: 'the name that users see' },
  'redirect-uri': {
    type: 'string',
    multiple: true,
    value: 'URI',
    help: 'where users are sent back to; repeatable',
  },
  scope: { type: 'string', multiple: true, value: 'ID', help: 'what it may request; repeatable' },
  'auth-method': {
    type: 'string',
    value: 'METHOD',
    help: 'client_secret_basic (default), client_secret_post, or none for apps that cannot keep a secret',
  },
  refresh: { type: 'boolean', help: 'issue refresh tokens too' },
  'client-uri': { type: 'string', value: 'URI', help: 'its home page, whose host must be proven' },
  'logo-uri': { type: 'string', value: 'URI', help: 'its logo' },
  'policy-uri': { type: 'string', value: 'URI', help: 'its privacy policy' },
  'tos-uri': { type: 'string', value: 'URI', help: 'its terms of service' },
  'post-logout-uri': {
    type: 'string',
    multiple: true,
    value: 'URI',
    help: 'where users may go after logging out; repeatable',
  },
  origin: {
    type: 'string',
    multiple: true,
    value: 'ORIGIN',
    help: 'a web origin that may call the token endpoint; repeatable',
  },
  file: {
    type: 'string',
    value: 'PATH',
    help: 'a file with the whole body as JSON, instead of the options above',
  },
}

const { file: wholeBody, 'auth-method': authMethod, ...plainSettings } = settings

const changes: Readonly<Record<string, Option>> = {
  ...plainSettings,
  'auth-method': { ...authMethod!, help: 'client_secret_basic, client_secret_post, or none' },
  'no-refresh': { type: 'boolean', help: 'stop issuing refresh tokens' },
  clear: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: 'remove an optional setting, by its API name, such as logo_uri; repeatable',
  },
  file: { ...wholeBody!, help: 'a file with the members to change as JSON, instead of the options above' },
}

const filters: Readonly<Record<string, Option>> = {
  name: { type: 'string', value: 'TEXT', help: 'only clients whose name contains this text' },
  visibility: { type: 'string', value: 'private|public', help: 'only private or only public clients' },
}

export const clientCommands: Readonly<Record<string, Command>> = {
  'client create': {
    usage: 'client create --name NAME --redirect-uri URI --scope ID [OPTION]…',
    summary: 'Create an OAuth client; its secret is shown only once.',
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
    summary: 'Show an OAuth client, and the DNS record that proves its domain.',
    options: access,
    args: 1,
    least: 1,
    load: async () => (await import('./show.ts')).show,
  },
  'client update': {
    usage: 'client update ID [OPTION]…',
    summary: 'Change settings of an OAuth client; repeatable options replace the whole list.',
    options: { ...changes, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./update.ts')).update,
  },
  'client rotate': {
    usage: 'client rotate ID [OPTION]…',
    summary: 'Issue a second secret; the first one keeps working.',
    options: access,
    args: 1,
    least: 1,
    load: async () => (await import('./secrets.ts')).rotate,
  },
  'client drop-old-secret': {
    usage: 'client drop-old-secret ID [OPTION]…',
    summary: 'Delete the older of two secrets.',
    options: access,
    args: 1,
    least: 1,
    load: async () => (await import('./secrets.ts')).dropOldSecret,
  },
  'client verify': {
    usage: 'client verify ID [--wait] [OPTION]…',
    summary: 'Check DNS now for the record that proves the domain; restarts a failed verification.',
    options: { wait: { type: 'boolean', help: 'wait until it is verified or has failed' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./verify.ts')).verify,
  },
  'client publish': {
    usage: 'client publish ID [--yes] [OPTION]…',
    summary: 'Make an OAuth client public; this is irreversible.',
    options: { yes: { type: 'boolean', help: 'do not ask for confirmation' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./publish.ts')).publish,
  },
  'client events': {
    usage: 'client events ID [--failed] [OPTION]…',
    summary: 'List what happened when users connected an OAuth client, and why it failed.',
    options: { failed: { type: 'boolean', help: 'only what failed' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./events.ts')).events,
  },
  'client delete': {
    usage: 'client delete ID [--yes] [OPTION]…',
    summary: 'Delete an OAuth client and revoke its grants.',
    options: { yes: { type: 'boolean', help: 'do not ask for confirmation' }, ...access },
    args: 1,
    least: 1,
    load: async () => (await import('./delete.ts')).remove,
  },
}
