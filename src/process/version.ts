// The version of this gateway, from its package: for --version, the banner and the metrics.

import manifest from '../../package.json' with { type: 'json' }

export const { version } = manifest
