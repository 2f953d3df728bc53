"""How common words are, in talk between people and coding agents: a small table written for this package.

Four bands. `STOP` words are never topics. The others are ever rarer; a word in no band is taken for rare, which is
what makes it a topic. Languages share one table: a word that is a stop word in one of them is rarely a topic in
another, and the few that are (`die`, `war`) are a fair price for not having to guess a message's language.
"""

# ruff: noqa: E501 - word lists and phrases are data

from __future__ import annotations

_STOP = """
a about above across actually after afterwards again against ago ah aha all almost alone along already also although
always am among an and another any anybody anymore anyone anything anyway anywhere apart are aren't around as aside
at away back be became because become becomes been before beforehand behind being below beneath beside besides
between beyond both but by bye came can can't cannot come comes coming could couldn't cause cos cuz dear did didn't
do does doesn't doing don't done down due during each either else elsewhere enough etc even ever every everybody
everyone everything everywhere except few first for former forth from further gave get gets getting give given gives
giving go goes going gone gonna got gotten gotta great had hadn't has hasn't have haven't having he he'd he'll he's
hello hence her here here's hereby hers herself hey hi him himself his hmm how how's however huh i i'd i'll i'm i've
if in indeed inside instead into is isn't it it'd it'll it's its itself just keep keeps kept kind kinda knew know known
knows last later latter least less lest let let's lets like likely likes little lot lots made mainly make makes making
many may maybe me mean means meanwhile might mine minus more moreover most mostly much must my myself namely near
nearly need needed needs neither never nevertheless new next nice no nobody nonetheless none nope nor not nothing now
nowhere obviously of off often oh ok okay on once one ones only onto or other others otherwise ought our ours ourselves
out outside over overall own per perhaps please plus possible possibly pretty probably put quite rather really right
said same saw say saying says see seeing seem seemed seems seen several shall she she's should shouldn't since so some
somebody somehow someone something sometimes somewhat somewhere soon sorry sort still such sure take taken takes taking
tell than thank thanks that that'd that'll that's the their theirs them themselves then thence there there's thereby
therefore these they they'd they'll they're they've thing things think thinks this those though through throughout thus
till to together too took toward towards tried tries true try trying twice two under unless unlike until up upon us use
used uses using usually various very via want wanted wants was wasn't way ways we we'd we'll we're we've well went were
weren't what what's whatever when whenever where where's whereas wherever whether which while who who's whoever whole
whom whose why will with within without won't wonder would wouldn't wow yeah yep yes yet you you'd you'll you're you've
your yours yourself yourselves yup zero three four five six seven eight nine ten second third good bad big small long
short old better best worse worst different able unable ready look looks looking looked show shows shown find found
finds start started starts starting stop stopped stops end ended ends ask asked asks say call called calls set sets
setting work works worked working run runs running ran help helps helped change changes changed check checks checked
checking add adds added adding let's'd monday tuesday wednesday thursday friday saturday sunday january february march
april june july august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep
sept oct nov dec today tomorrow yesterday tonight morning afternoon evening night day days week weeks month months year
years hour hours minute minutes sec secs seconds utc gmt am pm cest cet http https www com org net io html
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim bin
bis bist bitte da dabei dadurch dafür dagegen daher dahin damals damit danach daneben danke dann daran darauf daraus
darf darin darum darunter das dass daß davon davor dazu dein deine deinem deinen deiner dem den denen denn dennoch der
deren des deshalb dessen dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch eben ebenfalls
eher eigentlich ein eine einem einen einer eines einfach einige einigen einiger einiges einmal er erst es etwas euch
euer eure für gar geben gegen gehen geht gehabt gemacht genau gern gerne gesagt gewesen gibt gleich gut gute guten haben
habe habt hallo hast hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins
irgendwie ist ja jede jedem jeden jeder jedes jedoch jemand jene jetzt kann kannst kein keine keinem keinen keiner könnte
können lassen leider machen macht mal man manche mehr mein meine meinem meinen meiner mich mir mit muss musste müssen
nach nachdem nein nicht nichts nie niemand noch nun nur ob oben oder ohne okay schon sehr sein seine seinem seinen seiner
seit selbst sich sie sind so sobald solche soll sollen sollte sondern sonst sowie um und uns unser unsere unserem unseren
unserer unter viel viele vielen vielleicht vom von vor wann war waren warum was weder wegen weil weiter welche welchem
welchen welcher welches wenig wenn wer werde werden wie wieder will wir wird wirklich wo wohl wollen wurde wurden während
würde würden zu zum zur zwar zwischen zwei drei heute gestern morgen montag dienstag mittwoch donnerstag freitag
à ai ainsi alors après au aucun aussi autre avant avec avoir bien bon car ce cela ces cet cette ceux chaque chez comme
comment dans de depuis des deux donc du elle elles en encore entre est et être eu fait faut ici il ils je jusqu la le les
leur leurs lors lui ma mais me merci mes moi moins mon même ne ni nos notre nous on ont ou où par parce pas peu peut plus
pour pourquoi près qu quand que quel quelle qui quoi sa sans se ses si son sont sous sur ta te tes toi ton toujours tous
tout toute toutes très trop tu un une vers voici voilà vos votre vous y c'est n'est j'ai qu'il d'un d'une s'il
al algo algunos ante antes así aunque bajo cada como con contra cual cuando cómo de del desde donde dos el ella ellos
entonces entre era es esa ese eso esta estaba estado estas este esto estos está están fue ha hace hacer han hasta hay la
las le les lo los me mi mismo mucho muy más ni no nos nosotros o otra otro para pero poco por porque pues que quien qué
se ser si sin sobre solo son su sus sí también tan tanto te tiene todo todos tu tus un una uno unos ya yo gracias hola
da dal dalla dei del della delle di e gli ho il io la lo ma mi molto ne nel nella non per perché più quando quello questa
questo sono sta stato su sul tra tutto una vi che chi ci come con cosa anche ancora
as ao aos até com da das do dos ela ele eles em essa esse este eu foi isso já lhe mais mas meu minha muito na nas no nos
não num numa o os ou para pela pelo por quando que quem se sem ser seu sua são também te tem um uma você
aan als bij dan dat deze die dit een er geen haar heb hebben heeft het hij hoe hun ik je kan maar meer met mij mijn moet
naar niet nog nu of om omdat ook op over te toen tot uit van veel voor waar was wat we wel werd wij worden ze zei zich
zijn zo zou
а без более больше будет будто бы был была были было быть в вам вас вдруг ведь во вот впрочем все всегда всего всех всю
вы где да даже два для до другой его ее ей ему если есть еще ещё ж же за зачем здесь и из или им иногда их к как какая
какой когда конечно кто куда ли лучше между меня мне много может можно мой моя мы на над надо наконец нас не него нее
ней нельзя нет ни нибудь никогда ним них ничего но ну о об один он она они опять от перед по под после потом потому
почти при про раз разве с сам свою себе себя сейчас со совсем спасибо так такой там тебя тем теперь то тогда того тоже
только том тот три тут ты у уж уже хорошо хоть чего чей чем через что чтобы чуть эти это этого этой этом этот эту я
нужно надо давай привет пожалуйста это
i w z na do nie się jest to że jak ale co czy po od za o tak już dla być ma
og i det er en et på til av for med som den har ikke de jeg var att och är inte om vi ett
"""

_GENERIC = """
time times timing day days week weeks month months hour hours minute minutes second seconds today tomorrow yesterday morning
evening night left right top bottom side sides middle center centre width height size sizes color colors colour colours
white black red green blue yellow orange purple gray grey dark light bold block blocks row rows column columns box boxes
button buttons text texts title titles label labels icon icons word words letter letters page pages screen screens field
fields content contents body head header footer link links image images picture pictures screenshot screenshots
single multiple double half third fourth rest extra additional existing missing wrong broken empty main basic simple
manual automatic proper real fake nice cool fine weird strange strict explicit inline sesión sesiones sessão sessões sitzung sitzungen сессия сессии сесія сесії agente agentes agenten агент агента агенты idea ideas goal goals plan
plans phase phases stage stages round rounds attempt attempts feature features requirement behaviour behavior change
objective usability hiding showing explicitly requested requirement requirements summary overview status current state
states steps step update updates updated improve improved command commands completed option options issue issues item
items section sections detail details result results output outputs input inputs value values note notes list lists
file files folder folders directory path paths line lines name names number numbers type types part parts point points
example examples version versions default defaults support supported following previous next latest full complete
completely proceed continue continuing implement implementing implemented implementation create created creating
review reviewed reviewing fix fixed fixing error errors problem problems message messages question questions answer
answers user users prompt prompts context session sessions chat assistant agent tool tools task tasks thing stuff info
information instructions instruction instead exactly currently directly simply properly correctly automatically
already finally everything nothing anything someone relevant important critical ready quick quickly short shortly
clear clearly final lass lasst statt anstatt verwenden verwendet verwende benutzen benutzt nutzen nutze analyse
analysieren analysiert analysiere dokumentiert dokumentieren prozent inhalt inhalte pfad pfade datei dateien ordner
wobei wieso weshalb übernehmen speichern gespeichert speicher löschen gelöscht erstellen erstellt erstelle prüfen
geprüft prüfe fehler fehlt fehlen probleme lösung lösungen schritt schritte punkt punkte frage fragen antwort aufgabe
aufgaben weitermachen fortschritt stand komplett vollständig teilweise erfolgreich durchgeführt läuft starten
gestartet ahora mira hazlo haz hacer hecho puedes puede quiero tienes tengo sale salir siguiente arriba abajo sigue
saliendo despues después tarea tareas archivo archivos carpeta ruta línea mensaje mensajes usuario prueba cambio
cambios archive fichier fichiers dossier chemin ligne erreur erreurs tâche tâches étape étapes réponse utilisateur
arquivo arquivos pasta caminho linha erro erros tarefa tarefas passo passos resposta usuário mudança mudanças username
sender metadata untrusted message_id reply_to_current conversation timestamp traceback warning warnings debug fatal
adjust adjusted adjusting apply applied applying cover covers covered ensure ensures ensuring include includes included
including enable enabled disable disabled remain remains consider considered regarding attached attach explain explained
describe described mention mentioned suggested suggestion recommend recommended recommendation decide decided going
investigate investigating reload reloaded restarting ugly nicely separate separately entire entirely whole actual
approach ways manner kinds sorts piece pieces amount couple several certain specific specifically general generally
management declarations similar close weitere weiterer weiteres play полный полная полное
prévu prévue crie criar comecar iniciar maintain maintained tighten perform performed applies modify modified restructure restructured refresh refreshed
successfully requested reverse visible dumped scrolling polished professional helpful correctly incorrectly
ejecuta ejecutar ejecute nombre nombres paso pasos correcto exactamente directamente asume elimina eliminar implementación
individual debe deben debo debería deberían vamos voy hagas haga hagan haciendo usar usando uso utiliza ver viendo veo dice decir
dime dame pon poner ponga quede queda quedan quedar quedo quedó falta faltan faltaba cuenta parte partes manera forma
formas vez veces cosa cosas nuevo nueva nuevos nuevas mejor peor bueno buena bien mal aquí allí ahí mismo misma mismos
cual cuáles todavía aún mientras además según dentro fuera arreglar arregla corregir corrige revisar revisa agregar
agrega añadir añade crear crea mostrar muestra aprobar permitir permite funciona funcionando funcionar sirve error
errores problema problemas código página necesito necesita necesitamos entiendo claro listo correcto igual lugar tipo
faire fais faites faire fait faite faits peux peut pouvez veux veut voulez dois doit devez mettre mets mis mise voir
vois regarde regarder dire dis dit donne donner prendre prends trouver trouve vais vas va allons aller passer passe
continues continuer oui non merci temps fois chose choses façon manière exemple sorte partie nouveau nouvelle nouveaux
même mêmes autres seul seule vraiment explicite leçon gravée maintenant ensuite puis pendant aussi trop très beaucoup
assez tel telle ceci celle celui ceux quelque quelques plusieurs certains certaines problème problèmes code corriger
corrige ajouter ajoute modifier modifie supprimer créer crée vérifier vérifie besoin faudrait
vou vai vamos estou estamos quero queria preciso precisa precisamos deve devem deveria pode podem poderia fazer faz
feito fica ficar ficou ficando coloca colocar coloque usar usando use uso ver veja olha olhar dizer diz ainda agora
depois antes durante enquanto aqui ali lá onde assim então porque sobre novo nova novos novas melhor pior bom boa bem
mal mesmo mesma outro outra outros outras cada algum alguma alguns algumas nenhum nenhuma coisa coisas jeito forma
parte vez vezes exemplo pendente pendentes falta faltam aparece aparecer aparecendo corrigir corrige ajustar ajusta
adicionar adiciona criar cria mostrar mostra verificar verifica problema problemas código página tipo lugar escolha
leia todas todos tudo nada
делать делай сделай сделать сделаем сделано делаем посмотри посмотреть смотри смотреть проверь проверить проверка
проверил добавь добавить добавил исправь исправить исправил убери убрать удали удалить поменяй нужны нужна нужен нужно
хочу хочешь хочет могу можем можешь должен должна должно должны какие какую каких такие такая такое этих эта эти своей
своего новый новая новое новые первый первая второй другие других весь вся всё всем также просто сразу вообще
действительно например вариант варианты момент часть части раза вопрос вопросы ответ ответы задача задачи результат
ошибки проблемы файла файлов строка строки понял понятно ладно
робити зроби зробити зроблено подивись перевір перевірити додай додати виправ виправити прибери видали потрібно треба
хочу можу можна можеш повинен повинна повинні які яку яких такі така таке цих ця цей свої новий нова нове нові перший
перша інші весь вся все також просто одразу взагалі наприклад варіант момент частина питання відповідь задача задачі
результат помилка помилки файл файли рядок зрозумів зрозуміло дякую будь ласка
이거 그거 저거 이것 그것 여기 거기 지금 그럼 그런데 그러면 그리고 하지만 일단 먼저 다시 계속 해줘 해주세요 해야 하는 하고 하면
해서 했어 합니다 있는 있어 있습니다 없는 없어 없습니다 되는 돼 됩니다 같은 같아 같이 어떤 어떻게 무엇 왜 뭐 좀 더 잘 안 못 다 것
것들 거야 거지 수 때 때문 상단 하단 원본 페이지 화면 표시 확인합니다 이상하다 부분 문제 오류 에러 확인 수정 추가 삭제 변경 작업 진행 완료 파일 코드 테스트 내용 방법 경우 결과 현재
可能 应该 需要 可以 现在 然后 还是 直接 目前 之前 之后 这样 那样 怎样 如何 为什么 重新 继续 所有 全部 一些 一下 一直 其他 其它 另外
生成 链接 完善 补充 增加 继续完善 切换 尝试 编写 列出 读取 需求 执行 修改 添加 删除 检查 查看 确认 更新 创建 实现 处理 解决 支持 显示 设置 目录 代码 错误 测试 运行 执行 环境 版本 用户 项目 系统 数据 方式
stdout stderr exit code codes pid args kwargs return returns none null true false undefined lambda 方案 完整 分钟 状态 问题 文件
任务 内容 步骤 情况 结果 完成 开始 使用 进行 提交 功能 部分 信息 时间
"""

_NOISE = """
redacted private lorem ipsum dolor amet null nil none undefined true false nan inf void int str bool float char string
return returns def class const var let function func fn lambda import export from require include public private static
async await self this super new delete typeof instanceof else elif endif then fi esac done try catch except finally
raise throw throws yield pass break continue switch case default foreach print println printf echo stdout stderr stdin
args kwargs argv argc env sudo cd ls cat grep sed awk mkdir rm cp mv chmod chown pwd head tail xargs curl wget
usr etc tmp var opt bin lib lib64 sbin dev proc sys home root mnt srv users src dist node_modules site-packages
toolcall toolresult tool_call tool_use tool_result assistant user system message messages content text type role
timestamp uuid guid id ids utf utf-8 ascii json yaml toml xml csv md txt log logs tmp bak gz zip
okay yo lol haha hehe btw fyi imo afaik asap tbh idk thx ty pls plz np wip lgtm tldr aka vs eg ie i.e e.g ca bzw z.b usw
sk ok'd kb mb gb tb ms ns px em rem localhost heartbeat_ok api_key apikey api-key access_token auth_token
client_secret secret_key passwd pwd
"""

_VERY_COMMON = """
able access action actions actual add agent allow answer anything app approach area available bit block bottom bring
build builds built button case cases chance clean clear click close code command commands complete completed confirm
connect contain contains copy correct correctly could course create created creates creating current currently data
decide decided decision default delete describe detail details did directory directories display document done easy
edit effect either empty error errors everything exact exactly example examples exist existing exists expect expected
extra fail failed failing fails fast feature features feel field fields file files final finally fine finish finished
fix fixed fixes fixing folder follow following forget form format forward free full fully function functions future
general generate generated goal guess handle handled handles happen happened happening happens hard having high hold
hope huge idea ideas immediately implement implemented important improve inline input inside install installed issue
issues item items key keys kind language large later latest lead learn leave left level line lines link list lists load
loaded local location login look lose loss low main manage manual match matches matter merge method methods mind minor
miss missing mistake mode modify module moment move multiple name names needed normal note notes notice number numbers
object objects offer old open opened opening option optional options order original output package page pages part
parts pass passed passes passing path paths pattern people perfect person piece place plain plan point points possible
prefer present previous print prior problem problems process processes produce program progress project projects
properly provide provided push question questions quick quickly quiet random reach read reader reading real reason
recent record release remember remove removed rename replace report request require required requires reset response
reply replies calling rest restart restarted result results return review room root round rule rules safe sample save saved scan script
scripts search section select send sense sent separate sequence set setup share side sign similar simple simply single
size skip slow solution solve solved source space specific split stage state status stay step steps store stored
structure stuff style success successfully suggest summary support suppose switch table tag talk target task tasks team
temporary term test tested testing tests text thought time times title todo token tokens tool tools top total touch
track tree turn turned turns type types understand unit update updated updates upload user users value values verify
version versions view wait waiting warning warnings watch week weird whatever word words work workflow world worry
worth write writes writing written wrong wrote yes zone bug bugs incomplete crash crashed crashes broken break breaks stuck
blocked blocker thanks cool awesome interesting love hate glad happy fun funny guys guy man folks anyway whoever
machen datei dateien fehler problem frage fragen antwort beispiel zeit zeile zeilen ordner teil teile punkt seite name
wert werte liste schritt schritte lösung ergebnis test tests version code läuft laufen funktioniert funktionieren
geändert hinzugefügt erstellt prüfen ausführen starten gestartet neu neue neuen neuer neues fertig richtig falsch
fichier fichiers erreur problème code projet archivo archivos problema proyecto файл файлы ошибка проблема код проект
нужна нужен работает работать сделать сделал проверить запустить время день
"""

_COMMON = """
account activity address admin alert algorithm analysis api application architecture archive argument arguments array
article attempt attribute audio author automatic backend background backup balance base basic batch behavior behaviour
benchmark binary body book boolean boot border box branch bridge browser budget buffer business byte bytes cache
calendar camera card category cell certificate chain channel channels character characters chart chat checkout child
children city client clients clock cloud cluster collection color colour column columns comment comments commit commits
community company compare comparison compile compiler component components computer concept concern condition config
configuration configure connection connections console constant container contents context contract control controller
conversation core corner cost count counter country coverage cpu credential cursor custom customer cycle daemon
dashboard database date dates debug debugging definition delay dependencies dependency deploy deployed deployment
description design desktop dev developer development device devices dialog diff difference disk docker docs
documentation domain download draft driver driver duplicate editor element elements email endpoint endpoints engine
engineer entries entry environment equal escape estimate event events evidence exception execute execution exit
experience expression extension external fact factor failure failures family feedback filter filters flag flags flow
font food foo bar baz framework frequency frontend game gateway git github graph grid group groups guide hand handler
hardware hash head header headers health heap height history hook hooks host hosts house icon image images impact
implementation index info information inner instance instances instruction instructions integer integration interface
internal internet interval iteration java javascript job jobs kernel keyboard kit label labels laptop layer layout
length library libraries license limit limits linux loader lock locks logic loop mac machine macos mail map margin mark
market markdown matrix max maximum meeting memory menu metadata metric metrics middle migration min minimum mobile model
models modules money monitor month mouse music namespace network node nodes number offset online operation operator
origin owner packages packet panel parallel parameter parameters parent parse parser partial password patch percent
performance permission permissions phase phone photo pipeline pixel platform plugin plugins pointer policy pool port
ports position post power practice prefix preview price primary priority private procedure product production profile
prompt property protocol prototype proxy pull purpose python quality query queries queue race range rate ratio raw
readme recovery reference refactor region registry regression relation remote render repo repository requests
requirement requirements research resource resources retry revision risk role route routes router row rows runtime rust
sandbox schedule schema scope score screen sdk second secret security selection sensor server servers service services
session sessions shape shell signal signals site sites skill skills slot snapshot social software song speed sql stack
standard statement states static stats storage story stream string strings student submit suffix suite sum symbol sync
syntax system systems tab tables talk template templates terminal theme theory thread threads threshold tier timeout
timer topic topics trace traffic transaction transfer transcript transcripts transform trigger trip tuple typescript ui
unicode unique update upstream url urls variable variables vector video visit voice volume warning web webhook website
weight wheel width window windows wire worker workers workspace wrapper yaml
anwendung aufgabe aufgaben befehl benutzer daten datenbank einstellung einstellungen fenster funktion gerät geräte
gruppe kunde meldung nachricht netzwerk ordner programm projekt rechner schnittstelle server skript speicher sprache
tabelle variable verbindung verzeichnis zugriff système serveur données sistema servidor datos сервер данные система
программа функция пользователь команда база настройки
"""

# verbs that name no thing: a topic is what the work was about, not what was done to it
_VERBS = """
accept achieve acknowledge activate adapt add adjust adopt align allow alter analyse analyze announce answer appear
append apply approve arrange ask assess assign assist assume attempt avoid await become begin behave believe belong
bother bring calculate carry catch change choose clarify collect combine come communicate compare complain complete
compute conduct confirm confuse connect consider consist consolidate construct consume contain continue contribute
convert copy correct count create decide declare decrease deduplicate deepen define delete deliver demonstrate depend
derive describe deserve detect determine develop differ disappear discover discuss distinguish divide double edit
eliminate elaborate emit enable encounter encourage end enforce engage enhance ensure enter establish evaluate examine
exceed execute exist expand expect explain explore expose extend extract fail fetch fill finalize finalise find finish
fit fix follow forget gather generate get give go grow guarantee guess handle happen hear help hide hope identify
ignore illustrate imagine implement imply improve include incorporate increase indicate inform initialize initialise
initiate insert insist inspect install integrate intend interact introduce investigate involve join justify keep kill
know lack learn leave let lie like listen live locate look lose maintain make manage match mean mention mimic minimize
modify move need notice notify obtain occur omit open operate optimize optimise organize organise overwrite own pause
perform permit persist pick polish populate prefer prepare preserve pretend prevent proceed produce promise promote
propose prove provide publish pull push put quit raise reach react realize receive recheck recognize recognise
recommend reconcile recover redo reduce refer refine reflect refuse reject relate reload rely remain remember remind
remove rename reorganize repair repeat replace reply represent reproduce require rerun reset resolve respond restart
restore restrict resume retrieve retry reuse reveal revert rewrite run save say see seem select send separate serve
set show simplify simulate skip solve sort specify split start stay stop strip struggle submit succeed suggest
summarize summarise suppose survive suspect take talk tell tend think throw transform translate treat try turn
understand undo unify update use validate verify visit wait want warn wish wonder wrap write yield
"""

# verb forms and talk that end up often in front of a pair, though the words are not stop words
_WEIGHTS = ((_VERY_COMMON, 1.5), (_COMMON, 3.0))
RARE = 6.0

STOP: frozenset[str] = frozenset((_STOP + _NOISE).split())

# a CJK character that mostly binds words together rather than naming things: it separates candidate words
# words of the work itself: they say nothing of what it was about, but tell two tasks apart
# the small words of languages that have no rules: Italian, Indonesian, Dutch, Polish, Turkish
_SMALL_ELSEWHERE = """
anche ancora adesso allora avere bene che chi ciao come con cosa così dal dalla dei del della delle devi devo dopo dove dovrei
dovresti ecco essere fare fatto fai gli grazie hai ho il la le lo ma mi mio mia nel nella nelle non ogni ora perché perfetto però
poi posso potresti prima prossimo puoi può qual quale quando quello questa questi questo quindi sarà se sei sempre senza siamo
solo sono sopra sotto stai stato sto su subito sul sulla te ti tua tuo tutti tutto una usa usare usi vai vedere verso voglio
vorrei vuoi preparo lanciare lancia avvia avviare dammi dimmi fammi serve servono funziona
ada adalah agar aku akan anda apa apakah atau bagaimana bahwa baik bantu baru belum berapa berikut bisa boleh buat cek coba dan
dari dengan dia di gimana hanya harus ini itu iya jadi jangan jika juga kalau kami kamu kapan karena ke kita lagi lalu lebih maka
mana masih mau mohon nya oke oleh pada paling perlu saja sama sampai saya sebagai sebelum sebuah sedang sekarang semua seperti
setelah siapa silakan sudah supaya tampilkan tapi telah terima kasih tidak tolong untuk yang ya
als bij dan dat deze dit een graag heb hebben heeft het hoe ik je kan kunnen maar met mijn moet naar niet nog nu of ook om onze
over uit van voor waar wat wel wij worden zijn zou
aby ale bez być czy dla dlaczego gdzie jak jako jest już kiedy która który mnie może możesz nad nie oraz pod proszę przez przy są
się tak tego teraz też ten tylko wszystko żeby
ama ben bir bu çok daha değil gibi için ile kadar nasıl neden olan olarak şimdi şu var ve veya yok
"""
GENERIC: frozenset[str] = frozenset((_GENERIC + _SMALL_ELSEWHERE).split())
VERBS: frozenset[str] = frozenset(_VERBS.split())
CJK_FUNCTION = frozenset(
    "的了是在我你他她它们們这這那哪有和就不也都吗嗎呢吧啊把被从從到对對与與及或但很还還要会會能可没沒什么麼怎为為因所以如果让讓"
    "给給跟向着著过過得地之其只再又才已最更比请請说說看想来來去上下里裡个個一二三四五六七八九十两兩些每各某本该該将將于於并並而且坏壞好新旧舊"
)
CJK_STOP = frozenset(
    [
        "现在",
        "現在",
        "今天",
        "昨天",
        "明天",
        "时候",
        "時候",
        "问题",
        "問題",
        "可以",
        "需要",
        "使用",
        "这个",
        "那个",
        "一个",
        "我们",
        "你们",
        "他们",
        "没有",
        "什么",
        "怎么",
        "已经",
        "谢谢",
        "你好",
        "好的",
        "知道",
        "时间",
        "時間",
        "东西",
        "今日",
        "昨日",
        "明日",
        "場合",
        "必要",
        "使用",
        "確認",
        "お願い",
        "大丈夫",
        "自分",
        "方法",
        "部分",
        "ファイル",
        "エラー",
        "テスト",
        "コード",
        "データ",
        "文件",
        "错误",
        "錯誤",
        "代码",
        "测试",
        "測試",
        "运行",
        "運行",
        "这些",
        "那些",
        "因为",
        "所以",
        "如果",
        "但是",
        "应该",
        "應該",
        "开始",
        "開始",
        "完成",
        "数据",
        "修复",
        "修正",
    ]
)


def _table() -> dict[str, float]:
    weights: dict[str, float] = {}
    for words, weight in _WEIGHTS:
        for word in words.split():
            weights.setdefault(word, weight)
    return weights


_TABLE = _table()


def word_rarity(word: str) -> float:
    """How much a lower-cased word says about what a session was about; 0 for a stop word."""
    if word in STOP:
        return 0.0
    return _TABLE.get(word, RARE)
