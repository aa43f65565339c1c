import { present } from '../../kernel/present.ts';

/**
 * The people of the demonstration world, by the place they work at: full name and, where it is written otherwise, the
 * native name behind a bar. The position in a company's list says what somebody does there, see `jobTitles`.
 */
const lists = {
  team: 'Helena Kask; Marten Uibo; Ngozi Okafor; Ruben de Vries',
  partners: `Elisabet Lindqvist; Arjun Patel | अर्जुन पटेल; Hovhannes Grigoryan | Հովհաննես Գրիգորյան; Yael Cohen | יעל כהן;
    David Novák; Chiara Ricci; Mateus Carvalho; Zeynep Kaya; Emeka Obi; Li Wei | 李伟; Anahit Sargsyan | Անահիտ Սարգսյան; Petra Horvat`,
  pohjarannik: `Mari Tamm; Jüri Mägi; Kadri Sepp; Tõnu Kuusk; Liis Rebane; Ahto Õunapuu; Anna Smirnova | Анна Смирнова;
    Priit Saar; Aino Virtanen; Külli Vaher; Rasmus Ilves`,
  nordlicht: `Katharina Vogt; Jürgen Schäfer; Ayşe Yılmaz; Lukas Brandt; Zoë Krüger; Mehmet Öztürk; Phuong Nguyen | Nguyễn Thị Phương;
    Sebastian Weiß; Nadia Haddad | نادية حداد; Friedrich Lehmann; Emilia Groß`,
  baltijas: `Ilze Bērziņa; Jānis Ozols; Līga Kalniņa; Andris Liepiņš; Sergejs Petrovs | Сергей Петров; Inese Zariņa; Māris Krūmiņš;
    Elīna Balode; Rūta Jankauskaitė; Edgars Vītols; Dace Eglīte`,
  helios: `Eleni Papadopoulou | Ελένη Παπαδοπούλου; Giorgos Nikolaidis | Γιώργος Νικολαΐδης; Maria Georgiou | Μαρία Γεωργίου;
    Dimitris Karagiannis | Δημήτρης Καραγιάννης; Sofia Ioannou | Σοφία Ιωάννου; Nikos Vlachos | Νίκος Βλάχος;
    Katerina Makri | Κατερίνα Μακρή; Panos Antoniou | Πάνος Αντωνίου; Ivan Petkov | Иван Петков;
    Despina Alexiou | Δέσποινα Αλεξίου; Thanasis Raptis | Θανάσης Ράπτης`,
  obliczenia: `Agnieszka Wiśniewska; Paweł Zieliński; Małgorzata Dąbrowska; Tomasz Wójcik; Łukasz Kamiński; Zofia Pawlak; Michał Górski;
    Oksana Hnatiuk | Оксана Гнатюк; Krzysztof Lis; Magdalena Szymańska; Jakub Żak`,
  lumiere: `Camille Lefèvre; Élodie Moreau; Youssef Benali | يوسف بنعلي; Hélène Girard; Benoît Dupuis; Chloé Rousseau; Amadou Diallo;
    Noémie Fontaine; Linh Tran | Trần Mỹ Linh; Théo Gauthier; Océane Marchand`,
  fjellvind: `Ingrid Haugen; Bjørn Solberg; Siri Østby; Håkon Lie; Åse Nygård; Timo Mäkinen; Lars Bakke; Søren Kjær;
    Fatima Ali | فاطمة علي; Magnus Strand; Sunniva Dahl`,
  dnipro: `Olena Kovalenko | Олена Коваленко; Taras Shevchuk | Тарас Шевчук; Iryna Melnyk | Ірина Мельник; Andriy Bondar | Андрій Бондар;
    Kateryna Lysenko | Катерина Лисенко; Dmytro Tkachenko | Дмитро Ткаченко; Yuliia Marchenko | Юлія Марченко;
    Bohdan Savchuk | Богдан Савчук; Natalia Rudenko | Наталія Руденко; Maksym Polishchuk | Максим Поліщук; Sofiia Hrytsenko | Софія Гриценко`,
  sakura: `Haruka Sato | 佐藤 遥; Kenji Tanaka | 田中 健二; Yui Suzuki | 鈴木 結衣; Takumi Watanabe | 渡辺 匠; Aoi Kobayashi | 小林 葵;
    Daiki Yamamoto | 山本 大輝; Min-jun Kim | 김민준; Mei Lin | 林 美; Sakura Nakamura | 中村 さくら; Ryo Ito | 伊藤 涼; Hana Mori | 森 花`,
  byrne: 'Aoife Byrne; Seán Murphy',
  beridze: 'Giorgi Beridze | გიორგი ბერიძე; Nino Kapanadze | ნინო კაპანაძე',
  fernandez: 'Lucía Fernández; Íñigo Etxeberria',
} as const;

/** Where somebody works: a customer, or beside all customers. */
export type Place = keyof typeof lists;

export interface Name {
  readonly full: string;
  readonly native: string;
  /** `given.family` in ASCII. */
  readonly username: string;
}

/** The people of a place, in a fixed order. */
export const namesAt = (place: Place): readonly Name[] =>
  lists[place].split(';').map((entry) => {
    const [full = '', native = full] = entry.split('|').map((part) => part.trim());
    return { full, native, username: usernameOf(full) };
  });

/** Letters that Unicode does not take apart into a base letter and a mark. */
const whole: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', æ: 'ae', ß: 'ss', ı: 'i', đ: 'd' };

const usernameOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z .-]/g, (letter) => present(whole[letter]))
    .replace(/ +/g, '.');

/** What the people of a company do, by position. */
export const jobTitles = [
  'Managing director',
  'Head of operations',
  'Service desk lead',
  'Project manager',
  'System administrator',
  'Support engineer',
  'Software developer',
  'Data engineer',
  'Network engineer',
  'Security officer',
  'Trainee',
] as const;

/** The same for people outside of companies. */
export const otherJobTitles = {
  team: ['Platform lead', 'Platform engineer', 'Customer support', 'Customer support'],
  partners: [
    'Cloud consultant',
    'Freelance engineer',
    'Visiting researcher',
    'Auditor',
    'Freelance engineer',
    'Security tester',
    'Translator',
    'Technical writer',
    'Journalist',
    'Student',
    'Student',
    'Sales agent',
  ],
} as const;
