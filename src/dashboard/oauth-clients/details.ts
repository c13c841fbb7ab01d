// The form of an OAuth client's details, for creating and editing it.

import { type Html, html } from '../../base/text/html.ts'
import { Draft } from '../parts/draft.ts'
import { checkbox, listField, radios, selectField, textField } from '../parts/fields.ts'
import type { Client } from './client.ts'

export const detailLabels = {
  client_name: 'Name',
  kind: 'Kind of app',
  secret_in: 'Where it shows its secret',
  redirect_uris: 'Redirect URI',
  refresh: 'Stay signed in',
  client_uri: 'Home page',
  logo_uri: 'Logo',
  policy_uri: 'Privacy policy',
  tos_uri: 'Terms of service',
  post_logout_redirect_uris: 'Redirect URI after sign-out',
  allowed_cors_origins: 'Allowed origin',
} as const

export const renamedDetails = { '/token_endpoint_auth_method': 'kind', '/grant_types': 'refresh' } as const

const lists = ['redirect_uris', 'post_logout_redirect_uris', 'allowed_cors_origins'] as const
const pages = ['client_uri', 'logo_uri', 'policy_uri', 'tos_uri'] as const

/** Returns the draft with its lists without gaps. */
export function compactDetails(draft: Draft): Draft {
  return lists.reduce((compacted, name) => compacted.compact(name), draft)
}

/**
 * Makes the members of the body from a form; the API reports what is missing. Empty pages are null, which
 * clears them.
 */
export function bodyOfDetails(draft: Draft) {
  return {
    client_name: draft.value('client_name').trim(),
    token_endpoint_auth_method: methodIn(draft),
    grant_types: ['authorization_code', ...(draft.has('refresh') ? ['refresh_token'] : [])],
    response_types: ['code'],
    ...Object.fromEntries(lists.map(name => [name, draft.list(name)])),
    ...Object.fromEntries(pages.map(name => [name, draft.value(name).trim() || null])),
  }
}

function methodIn(draft: Draft): string | undefined {
  if (draft.value('kind') === 'public') return 'none'
  if (draft.value('kind') !== 'server') return undefined
  return draft.value('secret_in') === 'body' ? 'client_secret_post' : 'client_secret_basic'
}

export const blankDetails = new Draft({ kind: 'server', secret_in: 'header', refresh: 'on' })

/** Makes the draft of an existing client. */
export function draftOfDetails(client: Client): Draft {
  const { token_endpoint_auth_method: method, grant_types } = client
  const values: Record<string, string> = {
    client_name: client.client_name,
    kind: method === 'none' ? 'public' : 'server',
    secret_in: method === 'client_secret_post' ? 'body' : 'header',
    ...(grant_types.includes('refresh_token') && { refresh: 'on' }),
  }
  for (const name of pages) values[name] = client[name] ?? ''
  for (const name of lists) for (const [i, uri] of client[name].entries()) values[`${name}.${i}`] = uri
  return new Draft(values)
}

export function detailFields(draft: Draft): Html {
  return html`${textField(draft, {
    name: 'client_name',
    label: detailLabels.client_name,
    hint: 'People read it where they are asked to allow the app.',
    maxLength: 100,
    hasFocus: true,
  })}${radios(draft, {
    name: 'kind',
    label: detailLabels.kind,
    options: [
      {
        value: 'server',
        label: 'Server app',
        hint: 'It runs on a server of yours, where a secret stays secret. When it exchanges a code for tokens, it shows the secret.',
      },
      {
        value: 'public',
        label: 'Browser, mobile, desktop or command-line app',
        hint: 'It is in the hands of its users, so it can keep no secret. At each sign-in it proves with PKCE (S256) that it is the app that began it.',
      },
    ],
  })}${listField(draft, {
    name: 'redirect_uris',
    label: detailLabels.redirect_uris,
    type: 'url',
    hint: 'Where the browser returns to the app after sign-in: https, or http on this machine, such as http://127.0.0.1/callback, with any port. Apps on devices may have a scheme of their own, such as com.example.app:/callback.',
    maxLength: 512,
    add: 'Add another redirect URI',
  })}${checkbox(draft, {
    name: 'refresh',
    label: 'Stay signed in',
    hint: 'It gets refresh tokens, and goes on while its user is away.',
  })}${selectField(draft, {
    name: 'secret_in',
    label: detailLabels.secret_in,
    hint: 'For server apps. Most libraries use the header.',
    options: [
      { value: 'header', label: 'In a header: client_secret_basic' },
      { value: 'body', label: 'In the body: client_secret_post' },
    ],
  })}<details class="more"${hasMore(draft) && html` open`}><summary>Pages and further URIs</summary>
<div class="more-fields">${[
    page(draft, 'client_uri', 'Needed to publish the app: DNS must prove that its host is yours.'),
    page(draft, 'logo_uri', 'Needed to publish the app. Browsers of people who are asked load it.'),
    page(draft, 'policy_uri'),
    page(draft, 'tos_uri'),
  ]}${listField(draft, {
    name: 'post_logout_redirect_uris',
    label: detailLabels.post_logout_redirect_uris,
    type: 'url',
    maxLength: 512,
    isOptional: true,
    add: 'Add another one',
  })}${listField(draft, {
    name: 'allowed_cors_origins',
    label: detailLabels.allowed_cors_origins,
    type: 'url',
    hint: 'Origins of pages whose scripts exchange codes, such as https://app.example.',
    maxLength: 512,
    isOptional: true,
    add: 'Add another origin',
  })}</div></details>`
}

function page(draft: Draft, name: (typeof pages)[number], hint?: string): Html {
  const field = { name, label: detailLabels[name], type: 'url', maxLength: 2048, isOptional: true } as const
  return textField(draft, hint === undefined ? field : { ...field, hint })
}

function hasMore(draft: Draft): boolean {
  const names = [...pages, ...lists.slice(1)]
  const isShown = (name: string) => names.some(one => name === one || name.startsWith(`${one}.`))
  const isFaulty = Object.keys(draft.faults).some(pointer => isShown(pointer.slice(1).replaceAll('/', '.')))
  const isFilled = Object.keys(draft.values).some(name => isShown(name) && draft.value(name) !== '')
  return isFaulty || isFilled || (draft.isGrowing && names.some(name => name === draft.value('more')))
}
