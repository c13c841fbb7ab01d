// The endpoint by which an app signs its user out (OpenID Connect RP-Initiated Logout 1.0).

import { hasKnownPublisher } from '../../oauth/clients/proven-host.ts'
import { isFromOwnPage } from '../../pages/forms/csrf.ts'
import type { Call, EndpointParts } from './endpoint.ts'
import { readForm, tooLarge } from '../http/forms.ts'
import { readLogout } from './logout-request.ts'
import { errorPage, logoutPage, signedOutPage } from '../pages/pages.ts'
import { errorUri } from '../http/paths.ts'
import { sendError, sendPage } from '../http/responses.ts'

export async function logout(
  { request, response, sender, query }: Call,
  parts: EndpointParts,
): Promise<void> {
  const { clients, keys, events, personOf, signOut } = parts
  const issuer = parts.issuer()
  const error = 'invalid_request'
  const form = request.method === 'POST' ? await readForm(request) : new URLSearchParams(query)
  if (form === null) return sendError(response, issuer, { status: 413, error, description: tooLarge })
  const intent = await readLogout(form, { issuer, clients, keys: (await keys.current()).published })
  if (intent.kind === 'fault') {
    const { description } = intent
    const uri = errorUri(issuer, error)
    return sendPage(response, errorPage({ status: 400, error, description, uri, ray: sender.ray, app: null }))
  }
  const { client, user, location } = intent
  const person = await personOf(request)
  // An app that proves whose session it is may end it; a link without that could come from anywhere.
  const isProven = user !== null && user === person?.user
  const isConfirmed = request.method === 'POST' && isFromOwnPage(request.headers, issuer)
  if (person !== null && !isProven && !isConfirmed) return sendPage(response, logoutPage(form, client))
  const visit = { address: sender.address ?? sender.peer, ray: sender.ray }
  if (person !== null) await signOut(request, response, visit)
  if (client !== null)
    events.note({
      client: client.id,
      clientAccount: client.account,
      step: 'logout',
      result: 'success',
      error: null,
      reason: null,
      user: person?.user ?? null,
      account: null,
      ...visit,
      isUnproven: !isProven,
    })
  if (location === null || isConfirmed) return sendPage(response, signedOutPage(location))
  // Nobody was signed in, and the link may come from anywhere.
  if (!isProven && !hasKnownPublisher(client!)) return sendPage(response, signedOutPage(location, false))
  response.writeHead(303, { location }).end()
}
