// Asks one thing of a server again and again, in a process of its own, so that asking does not slow the asked one down.
// What to ask comes over the channel, since it has a token in it; the answer goes back the same way.
import autocannon, { type Options } from 'autocannon'

process.once('message', async (options: Options) => {
  const result = await autocannon(options)
  process.send?.(result, () => process.disconnect?.())
})
