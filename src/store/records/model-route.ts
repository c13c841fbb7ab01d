// The model routes of AI gateways ("dynamic routes" in the API): their elements, versions and deployments.

export interface ModelRoute {
  /** The owner: `account/gateway`. A route ends with its gateway. */
  readonly account: string
  readonly id: string
  /** Unique within the gateway; calls name it as dynamic/NAME. */
  readonly name: string
  /** Oldest first. */
  readonly versions: readonly RouteVersion[]
  /** Oldest first; the last one is in effect. */
  readonly deployments: readonly RouteDeployment[]
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface RouteVersion {
  readonly id: string
  readonly elements: readonly RouteElement[]
  readonly createdAt: number
}

export interface RouteDeployment {
  readonly id: string
  readonly version: string
  readonly createdAt: number
}

/** Where an element leads to, by the name of the output. */
type Outputs<Name extends string> = Readonly<Record<Name, { readonly elementId: string }>>

/** As the API has them. */
export type RouteElement =
  | { readonly id: string; readonly type: 'start'; readonly outputs: Outputs<'next'> }
  | {
      readonly id: string
      readonly type: 'conditional'
      readonly properties: { readonly conditions: RouteCondition }
      readonly outputs: Outputs<'true' | 'false'>
    }
  /** The outputs are named `20%`, or `20% NAME`, and `else` for all other calls. */
  | { readonly id: string; readonly type: 'percentage'; readonly outputs: Outputs<string> }
  | {
      readonly id: string
      readonly type: 'rate'
      readonly properties: {
        readonly key: string
        /** Calls, or US dollars with up to 9 decimals. */
        readonly limit: number
        readonly limitType: 'count' | 'cost'
        /** Seconds. */
        readonly window: number
      }
      readonly outputs: Outputs<'success' | 'fallback'>
    }
  | {
      readonly id: string
      readonly type: 'model'
      readonly properties: {
        readonly provider: string
        readonly model: string
        /** Ms until the first content. */
        readonly timeout: number
        readonly retries: number
      }
      readonly outputs: Outputs<'success' | 'fallback'>
    }
  | { readonly id: string; readonly type: 'end'; readonly outputs?: Outputs<never> }

export type Scalar = string | number | boolean | null

/**
 * All members must hold. A member is a fact about the call with a value or with operators, or `$and`, `$or`
 * or `$not` with other conditions.
 */
export interface RouteCondition {
  readonly [factOrOperator: string]: unknown
}

/** Returns the owner of the model routes of a gateway. */
export function routeOwner({ account, id }: { readonly account: string; readonly id: string }): string {
  return `${account}/${id}`
}

/** Returns the version to which calls go; a route always has one. */
export function versionInEffect({ versions, deployments }: ModelRoute): RouteVersion {
  const { version } = deployments.at(-1)!
  return versions.find(({ id }) => id === version)!
}
