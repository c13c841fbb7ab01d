// The options that set something on an OAuth client, or select clients.

import { flag, text, texts } from '../options.ts'

export const settings = {
  name: text('NAME', 'the name that users see'),
  'redirect-uri': texts('URI', 'where users are sent back to; repeatable'),
  scope: texts('ID', 'what it may request; repeatable'),
  'auth-method': text(
    'METHOD',
    'client_secret_basic (default), client_secret_post, or none for apps that cannot keep a secret',
  ),
  refresh: flag('issue refresh tokens too'),
  'client-uri': text('URI', 'its home page, whose host must be proven'),
  'logo-uri': text('URI', 'its logo'),
  'policy-uri': text('URI', 'its privacy policy'),
  'tos-uri': text('URI', 'its terms of service'),
  'post-logout-uri': texts('URI', 'where users may go after logging out; repeatable'),
  origin: texts('ORIGIN', 'a web origin that may call the token endpoint; repeatable'),
  file: text('PATH', 'a file with the whole body as JSON, instead of the options above'),
}

const { file: wholeBody, 'auth-method': authMethod, ...plainSettings } = settings

export const changes = {
  ...plainSettings,
  'auth-method': { ...authMethod, help: 'client_secret_basic, client_secret_post, or none' },
  'no-refresh': flag('stop issuing refresh tokens'),
  clear: texts('NAME', 'remove an optional setting, by its API name, such as logo_uri; repeatable'),
  file: { ...wholeBody, help: 'a file with the members to change as JSON, instead of the options above' },
}

export const filters = {
  name: text('TEXT', 'only clients whose name contains this text'),
  visibility: text('private|public', 'only private or only public clients'),
}
