// A request for a page of the dashboard: the input and output of handlers.

import type { Html } from '../../base/text/html.ts'
import type { Actor } from '../../people/sign-in/own-account.ts'
import type { ClientInfo } from '../../people/records/client-info.ts'
import type { Permission } from '../../permissions/permit.ts'
import type { Form } from '../../pages/forms/form.ts'
import type { FormFrame } from '../../pages/parts/components.ts'
import type { PageResponse } from '../../pages/parts/layout.ts'
import type { Api, Failure } from './api-client.ts'
import type { GatewayEndpoint } from './gateway-endpoint.ts'

export interface PageRequest {
  readonly path: string
  /** The decoded values of the `{name}` segments of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Empty unless a form was sent. */
  readonly form: Form
  readonly actor: Actor
  /** The account of the path, of which the user is a member. */
  readonly account: { readonly id: string; readonly name: string }
  readonly sections: readonly SectionLink[]
  readonly api: Api
  readonly client: ClientInfo
  /** Whether the response is shown by itself, and not in a frame of one of our pages. */
  readonly isAlone: boolean
  /** Ms since the epoch. */
  readonly now: number
  /** The origin of the pages, without a trailing slash. */
  readonly origin: string
  readonly issuer: string
  /** The endpoint of AI gateways; null if the configuration has no host for them. */
  readonly gatewayEndpoint: GatewayEndpoint | null
  hideFirstSteps(): Promise<void>
  /** Whether the person may do this in the account: forbidden actions are not drawn. */
  may(permission: Permission): boolean
  /** Returns the source of a frame for a path, with a proof for browsers that do not mark frame requests. */
  framePathOf(path: string): string
  frameFor(path: string): FormFrame
}

/** A page, without the frame that all of them share. */
export interface View {
  readonly title: string
  readonly content: Html
  /** 200 by default; 422 for a form with faults. */
  readonly status?: number | undefined
  readonly crumbs?: readonly Crumb[]
  readonly actions?: Html
  /** Whether it shows pictures of other sites, over https. */
  readonly hasPictures?: boolean
  /** Whether it has a frame with a page of this origin, which is sandboxed. */
  readonly hasFrames?: boolean
  /** Whether it needs the width of the screen: lists do, forms and texts do not. */
  readonly isWide?: boolean
}

export interface Crumb {
  readonly title: string
  readonly path: string
}

export interface SectionLink extends Crumb {
  readonly api: string
  readonly guide: string
}

export type Handler = (request: PageRequest) => Promise<View | PageResponse | Failure>

/**
 * The effect of a form. One that opens or ends something requires a proof of identity that is not older than
 * 30 minutes.
 */
export type Effect =
  /**
   * Gives somebody access or more rights, or shows visitors of a site something else: members, roles, tokens,
   * clients, access rules, error content, gateways.
   */
  | 'opens'
  /** Removes something irreversibly: by deletion, revocation, sign-out or replacement. */
  | 'ends'
  /** Changes something reversible, without giving access. */
  | 'sets'
  /** Changes nothing: a preview, a test, a step before the last one. */
  | 'tries'

/** A page: its permission, and its content. */
interface ShownPage {
  /** Steps such as `{token}` stand for any value. */
  readonly path: string
  /** Without it in the account, the response is 404, as for a missing page; null if each member may. */
  readonly permission: Permission | null
  /** GET, which changes nothing. */
  readonly show?: Handler
}

interface FormPage extends ShownPage {
  readonly take: Handler
  readonly effect: Effect
  /** Whether it handles the form of the page one step above, which has a button that leads here. */
  readonly isBesideForm?: boolean
  /** Whether the form may have files, of 2 MB together. */
  readonly hasFiles?: boolean
}

export type Route =
  | FormPage
  | (ShownPage & { readonly [Name in Exclude<keyof FormPage, keyof ShownPage>]?: never })
