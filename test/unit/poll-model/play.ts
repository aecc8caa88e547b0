import { ModelClock } from './clock.ts';
import { choiceOf, type Deed, type History } from './histories.ts';
import { ModelN8n } from './n8n.ts';
import { ModelService } from './service.ts';
import type { Played } from './promises.ts';

/** Lives a history with the real trigger, and then waits until everything has come to rest. */
export async function play(history: History): Promise<Played> {
	const clock = new ModelClock();
	const service = new ModelService(clock);
	const n8n = new ModelN8n(clock, service);
	n8n.courses = history.courses;
	const played: Played = { history, service, n8n, choices: [], kills: [], restores: [], losses: [] };
	const names = ['one', 'two'].slice(0, history.nodes);
	let since = new Date(clock.now() + 60_000).toISOString();
	const chosen = names.map(() => ['a.x']);

	const publish = async (node: number): Promise<void> => {
		const [name, types] = [names[node]!, chosen[node]!];
		const from = clock.now();
		await n8n.publish(name, choiceOf(history, types, since));
		played.choices.push({ node: name, types, from, to: clock.now() });
	};

	const wait = async (ms: number): Promise<void> => await clock.advance(ms);

	const act: { [Does in Deed['does']]: (deed: Extract<Deed, { does: Does }>) => Promise<void> | void } = {
		happen: ({ count, type, record, late }) => {
			for (let i = 0; i < count; i++) service.happen(type, `r${record}`, i % 2 === 0 ? late : 0);
		},
		wait: async ({ ms }) => await wait(ms),
		kill: async ({ down }) => {
			played.kills.push(clock.now());
			await n8n.kill();
			await wait(down);
			await n8n.start();
		},
		publish: async ({ node }) => (node < names.length ? await publish(node) : undefined),
		choose: async ({ node, types }) => {
			if (node >= names.length) return;
			chosen[node] = types;
			await publish(node);
		},
		lag: ({ ms }) => {
			service.lag = ms;
		},
		fail: ({ count }) => {
			service.failures = count;
		},
		loseStore: () => {
			played.losses.push(clock.now());
			n8n.staticData = '{}';
		},
		oldStore: ({ back }) => {
			played.losses.push(clock.now());
			n8n.staticData = n8n.earlier.at(-back) ?? '{}';
		},
		databaseAway: async ({ ms }) => {
			n8n.isDatabaseAway = true;
			await wait(ms);
			n8n.isDatabaseAway = false;
		},
		prune: () => {
			played.pruned = true;
			n8n.prune();
		},
		restore: ({ without, grows }) => {
			if (service.all.length === 0) return;
			played.restores.push(clock.now());
			service.restore(without);
			for (let i = 0; i < grows; i++) service.happen('a.x', `r${i % 4}`);
		},
		zone: async ({ hours }) => {
			since = new Date(Date.parse(since) + hours * 3_600_000).toISOString();
			await publish(0);
		},
	};

	service.happen('c.z', 'r0');
	await wait(60_000);
	for (let node = 0; node < names.length; node++) await publish(node);
	await wait(60_000);
	for (const deed of history.deeds) await act[deed.does](deed as never);
	service.lag = 0;
	service.failures = 0;
	for (let rows = -1; rows !== n8n.allRows.length; ) {
		rows = n8n.allRows.length;
		await wait(400_000);
	}
	await n8n.kill();
	return played;
}
