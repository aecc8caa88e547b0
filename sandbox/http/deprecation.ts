import type { MiddlewareHandler } from 'hono';
import { docsPath } from './docs-path.ts';
import { Problem } from '../foundation/problem.ts';

/** The retirement of a route. */
export interface Deprecation {
	/** The date of the deprecation, RFC 3339. */
	since: string;
	/** The date after which requests are refused, at least 24 months later, RFC 3339. */
	sunset: string;
	/** The path to use instead. */
	successor: string;
}

/** A path without a version cannot stay compatible once there are two versions. */
export const withoutVersion: Deprecation = {
	since: '2026-01-01T00:00:00.000Z',
	sunset: '2031-01-01T00:00:00.000Z',
	successor: '/v1/contacts',
};

/**
 * Announces a deprecation on every response (RFC 9745, RFC 8594), and refuses requests after the
 * sunset.
 *
 * @throws Problem version_sunset
 */
export const deprecated = (deprecation: Deprecation, now: () => number): MiddlewareHandler => {
	const { sunset, successor } = deprecation;
	const headers = deprecationHeaders(deprecation);
	return async (c, next) => {
		if (now() >= Date.parse(sunset)) {
			throw new Problem('version_sunset', `This has reached its sunset date. Use ${successor}.`, { headers });
		}
		await next();
		for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
	};
};

export const deprecationHeaders = ({ since, sunset, successor }: Deprecation) => ({
	Deprecation: `@${Date.parse(since) / 1000}`,
	Sunset: new Date(sunset).toUTCString(),
	Link: `<${successor}>; rel="successor-version", <${docsPath}>; rel="deprecation"; type="text/html"`,
});
