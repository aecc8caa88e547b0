import { parseArgs } from 'node:util';
import { z } from 'zod/v4';
import { planNames, plans } from './core/schemas/account.ts';
import { demoMembers } from './seed/demo-members.ts';
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
  --faults                  lets tests inject faults at /_sandbox/faults and advance the
                            clock at /_sandbox/clock
  --help                    shows this

Create API keys and OAuth clients at /settings/api. Users who can sign in there:
${memberList}
`;

/** A mistake in the command line; the message is for the person who typed it. */
export class UsageError extends Error {}

const someText = z.string().min(1, 'a value');
const wholeNumber = (from: number, to: number) =>
	z.string()
		.refine(
			(digits) => /^\d{1,9}$/.test(digits) && Number(digits) >= from && Number(digits) <= to,
			`a whole number from ${from} to ${to}`,
		)
		.transform(Number);
const seconds = (from: number) => wholeNumber(from, 86_400).transform((number) => 1000 * number);

const flags = {
	port: wholeNumber(0, 65_535),
	db: someText,
	contacts: wholeNumber(0, 1_000_000),
	day: z.iso.date('a day such as 2026-01-31'),
	'api-key': z.string().regex(/^[\x21-\x7e]+$/, 'printable ASCII characters without spaces'),
	plan: z.enum(planNames, `one of ${planNames.join(', ')}`),
	'requests-per-minute': wholeNumber(1, 1_000_000),
	'access-token-seconds': seconds(1),
	'refresh-grace-seconds': seconds(0),
	'allow-private-webhooks': z.boolean(),
	faults: z.boolean(),
	help: z.boolean(),
};

/**
 * @param args without the names of program and script
 * @returns undefined if the arguments ask for help
 * @throws UsageError
 */
export function parseCommandLine(args: string[]): SandboxOptions | undefined {
	const { data: values, error } = z.object(flags).partial().safeParse(parseFlags(args));
	const [issue] = error?.issues ?? [];
	if (issue) throw new UsageError(`--${issue.path.join()} takes ${issue.message}.`);
	const { help, db, contacts, day, plan, port = 4010, faults = false } = values!;
	const { 'api-key': apiKey, 'requests-per-minute': requestsPerMinute } = values!;
	const { 'access-token-seconds': accessToken, 'refresh-grace-seconds': replacedRefreshToken } = values!;
	const { 'allow-private-webhooks': allowPrivateWebhooks = false } = values!;
	if (help) return undefined;
	return {
		...present({ db, contacts, day, apiKey, plan, requestsPerMinute }),
		port,
		isLively: true,
		tokenLifetimes: present({ accessToken, replacedRefreshToken }),
		allowPrivateWebhooks,
		faults,
	};
}

type Present<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

const present = <T extends object>(values: T): Present<T> =>
	Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>;

function parseFlags(args: string[]): Record<string, unknown> {
	const optionEntries = Object.entries(flags).map(([name, schema]) => {
		return [name, { type: schema instanceof z.ZodBoolean ? 'boolean' : 'string' }] as const;
	});
	try {
		return parseArgs({ args, options: Object.fromEntries(optionEntries) }).values;
	} catch (error) {
		// Node's messages continue with advice about positional arguments, which this command does not take.
		const [sentence] = (error as Error).message.split('. ');
		throw new UsageError(`${sentence}.`);
	}
}
