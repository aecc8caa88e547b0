import { parseArgs } from 'node:util';
import { type Plan, planNames, plans } from './foundation/plans.ts';
import { demoMembers } from './pages/demo-members.ts';
import type { SandboxOptions } from './serve.ts';

const planList = planNames.map((name) => `${name}: ${plans[name]}`).join(', ');

const memberList = demoMembers
	.map(({ email, password, role }) => `  ${email} (${role}), password ${password}`)
	.join('\n');

export const usage = `Serves the CRM Platform API, with made-up data, on this machine.

  --port N                  port to listen on; 0 takes any free one (4010)
  --db PATH                 database file; :memory: keeps nothing (:memory:)
  --contacts N              number of contacts in a new database (200)
  --day YYYY-MM-DD          day on which the made-up data of a new database ends (today)
  --api-key KEY             the API key to accept (generated once per database)
  --plan NAME               ${planList} requests per minute (starter)
  --requests-per-minute N   overrides the limit of the plan
  --access-token-seconds N  lifetime of an access token (3600)
  --refresh-grace-seconds N how long a replaced refresh token stays valid (600)
  --allow-private-webhooks  allows webhooks to this machine and its network
  --host-name NAME          host name to accept for pages, besides localhost
  --faults                  lets tests inject faults at /_sandbox/faults and advance the
                            clock at /_sandbox/clock
  --help                    shows this

Create API keys and OAuth clients at /settings/api. Users who can sign in there:
${memberList}
`;

/** A mistake in the command line; the message is for the person who typed it. */
export class UsageError extends Error {}

/**
 * @param args without the names of program and script
 * @returns undefined if help was asked for
 * @throws UsageError
 */
export function parseCommandLine(args: string[]): SandboxOptions | undefined {
	const given = parseFlags(args);
	if (given.help) return undefined;
	return {
		port: wholeNumber('--port', given.port ?? '4010', 0, 65_535),
		...(given.db !== undefined && { db: requireText('--db', given.db) }),
		...(given.contacts !== undefined && {
			contacts: wholeNumber('--contacts', given.contacts, 0, 1_000_000),
		}),
		...(given.day !== undefined && { day: calendarDay('--day', given.day) }),
		isLively: true,
		...(given['api-key'] !== undefined && { apiKey: apiKey(given['api-key']) }),
		...(given.plan !== undefined && { plan: plan(given.plan) }),
		...(given['requests-per-minute'] !== undefined && {
			requestsPerMinute: wholeNumber(
				'--requests-per-minute',
				given['requests-per-minute'],
				1,
				1_000_000,
			),
		}),
		tokenLifetimes: {
			...(given['access-token-seconds'] !== undefined && {
				accessToken: seconds('--access-token-seconds', given['access-token-seconds'], 1),
			}),
			...(given['refresh-grace-seconds'] !== undefined && {
				replacedRefreshToken: seconds('--refresh-grace-seconds', given['refresh-grace-seconds'], 0),
			}),
		},
		...(given['host-name'] !== undefined && {
			hostNames: [requireText('--host-name', given['host-name']).toLowerCase()],
		}),
		allowPrivateWebhooks: given['allow-private-webhooks'] ?? false,
		faults: given.faults ?? false,
	};
}

function parseFlags(args: string[]) {
	const string = { type: 'string' } as const;
	const boolean = { type: 'boolean' } as const;
	try {
		const options = {
			port: string,
			db: string,
			contacts: string,
			day: string,
			'api-key': string,
			plan: string,
			'requests-per-minute': string,
			'access-token-seconds': string,
			'refresh-grace-seconds': string,
			'host-name': string,
			'allow-private-webhooks': boolean,
			faults: boolean,
			help: boolean,
		};
		return parseArgs({ args, options }).values;
	} catch (error) {
		// Node's messages continue with advice about positional arguments, which this command does not
		// take.
		const [sentence] = (error as Error).message.split('. ');
		throw new UsageError(`${sentence}.`);
	}
}

function wholeNumber(flag: string, value: string, minimum: number, maximum: number): number {
	const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
	if (number >= minimum && number <= maximum) return number;
	throw new UsageError(
		`${flag} takes a whole number from ${minimum} to ${maximum}, not "${value}".`,
	);
}

/** @returns milliseconds */
const seconds = (flag: string, value: string, minimum: number): number =>
	1000 * wholeNumber(flag, value, minimum, 86_400);

function calendarDay(flag: string, value: string): string {
	const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : NaN;
	if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(value)) return value;
	throw new UsageError(`${flag} takes a day such as 2026-01-31, not "${value}".`);
}

function requireText(flag: string, value: string): string {
	if (value !== '') return value;
	throw new UsageError(`${flag} needs a value.`);
}

function apiKey(value: string): string {
	if (/^[\x21-\x7e]+$/.test(value)) return value;
	throw new UsageError('--api-key takes printable ASCII characters without spaces.');
}

function plan(value: string): Plan {
	const known = planNames.find((name) => name === value);
	if (known) return known;
	throw new UsageError(`--plan is one of ${planNames.join(', ')}, not "${value}".`);
}
