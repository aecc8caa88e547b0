/** The number of a rule of docs/reference/service.md, for messages. */
export const ruleNumber = (rule: number): string => `rule ${rule} of what the nodes expect of a CRM`;

export const breaksRule = (rule: number): string => `This breaks ${ruleNumber(rule)}.`;

/** @param where a rule is broken, such as a path and a member @param problem what is wrong there, as a sentence */
export const ruleBroken = (rule: number, where: string, problem: string): Error =>
	new Error(`${where}: ${problem} ${breaksRule(rule)} Please report this to the CRM’s support.`);
