// Prometheus metrics of sign-ins, and of apps that act for people.

import { byName, type Families, gauge } from './family.ts'

export const peopleFamilies: Families = {
  gatehouse_sign_ins_total: {
    help: 'Attempts to sign in, by step (password, passkey, code, confirm, provider, link) and result.',
    read: ({ people: { signIns } }) =>
      Object.entries(signIns).flatMap(([step, results]) => byName(results, result => ({ step, result }))),
  },
  gatehouse_oauth_authorizations_total: {
    help: 'Responses of the OAuth authorization endpoint: a code, a page that asks the person (asked), or an error.',
    read: ({ people: { authorizations } }) => byName(authorizations, result => ({ result })),
  },
  gatehouse_oauth_client_documents_total: {
    help: 'Metadata documents of OAuth clients that were needed and not cached: fetched, gone, invalid, unreachable, or busy (over a limit).',
    read: ({ people: { clientDocuments } }) => byName(clientDocuments, result => ({ result })),
  },
  gatehouse_oauth_tokens_total: {
    help: 'Responses of the OAuth token endpoint, by grant type and result: issued, or an error.',
    read: ({ people: { tokens } }) =>
      Object.entries(tokens).flatMap(([grant_type, results]) =>
        byName(results, result => ({ grant_type, result })),
      ),
  },
  gatehouse_oauth_grants: {
    help: 'OAuth grants in the store: what people let apps do in an account. The same on all machines that share the store.',
    read: ({ oauthGrants }) => gauge(oauthGrants),
    together: 'max',
  },
}
