import { ModelClock } from './clock.ts';
import { choiceOf, now, type Begins, type PollStep, type PollHistory } from './poll-histories.ts';
import { PollModelN8n } from './poll-n8n.ts';
import { PollModelService } from './poll-service.ts';
import type { Played } from './played.ts';

/** Lives a history with the real trigger, and then waits until everything has come to rest. */
export async function playPollHistory(history: PollHistory): Promise<Played> {
	const clock = new ModelClock();
	const service = new PollModelService(clock);
	const n8n = new PollModelN8n(clock, service);
	n8n.courses = history.courses;
	const played: Played = { history, service, n8n, choices: [], kills: [], restores: [], losses: [] };
	const names = ['one', 'two'].slice(0, history.nodes);
	let since = new Date(clock.now() + 60_000).toISOString();
	const { doneWhen, groupSize, afterCrash, isCopy, isDated } = history;
	const first: Begins = isDated ? { start: 'first', since } : now;
	const triggers = names.map(() => ({
		types: ['a.x'],
		begins: isCopy ? copy('') : first,
		settings: { doneWhen, groupSize, afterCrash },
	}));

	const publish = async (node: number, change: Partial<(typeof triggers)[0]> = {}): Promise<void> => {
		const trigger = triggers[node];
		if (!trigger) return;
		Object.assign(trigger, change);
		const from = clock.now();
		await n8n.publish(names[node]!, choiceOf(trigger.settings, trigger.types, trigger.begins, service.page));
		played.choices.push({ node: names[node]!, ...trigger, from, to: clock.now() });
	};

	const wait = async (ms: number): Promise<void> => await clock.advance(ms);

	const act: { [Does in PollStep['does']]: (deed: Extract<PollStep, { does: Does }>) => Promise<void> | void } = {
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
		publish: async ({ node }) => await publish(node),
		choose: async ({ node, types }) => await publish(node, { types }),
		set: async ({ node, settings }) => await publish(node, { settings: { ...triggers[node]?.settings, ...settings } as never }),
		scope: async ({ node, stage }) => {
			if (triggers[node]?.begins.stage !== undefined) await publish(node, { begins: copy(stage) });
		},
		begin: async ({ node, at }) => {
			const instant = typeof at === 'number' ? new Date(clock.now() - at * 1_000).toISOString() : '';
			const begins = at === 'records' ? copy('') : at === 'now' ? now : { start: 'first', since };
			await publish(node, { begins: instant === '' ? begins : { start: instant, since: instant } });
		},
		write: ({ record, stage, late }) => service.write(`r${record}`, stage, late),
		expire: () => {
			service.cursorsExpire = 1;
		},
		lag: ({ ms }) => {
			service.lag = ms;
		},
		fail: ({ count, failure = 'none' }) => {
			Object.assign(service, { failures: count, failure });
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
		restore: async ({ without, grows, givesAgain }) => {
			if (service.all.length === 0) return;
			played.restores.push(clock.now());
			service.restore(without, givesAgain);
			await wait(1);
			for (let i = 0; i < grows; i++) service.happen('a.x', `r${i % 4}`);
		},
		zone: async ({ hours }) => {
			since = new Date(Date.parse(since) + hours * 3_600_000).toISOString();
			if (triggers[0]!.begins.start === 'first') await publish(0, { begins: { start: 'first', since } });
		},
	};

	service.happen('c.z', 'r0');
	for (const record of ['r0', 'r1', 'r2', 'r3']) service.write(record, record === 'r3' ? 'customer' : 'lead');
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

const copy = (stage: string): Begins => ({ start: '', since: '', stage });
