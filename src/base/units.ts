// Durations in ms and sizes in bytes.

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

export const KiB = 2 ** 10
export const MiB = 2 ** 20
export const TiB = 2 ** 40
