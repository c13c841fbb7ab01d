// The address lists of the configuration, shared by all rules that name them. Access rules ask; the process loads them.

/** A list that may be another at each look, since its file is read anew when it changes. */
export interface AddressList {
  has(address: string): boolean
}

export interface Lists {
  /** Finds a list of the configuration; throws for a name that it does not know. */
  get(name: string): AddressList
}
